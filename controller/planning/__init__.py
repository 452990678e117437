"""Pure decisions shared by the workloads: rules in order, and what the host admits."""
