"""How fast toban is, as ratios to floor scripts of the same minute: `python -m tests.bench`.

Real processes beside a stand-in and a scripted model. Prints and never asserts a time: a number
belongs to its machine and its minute, so each one stands beside what the bare minimum costs there.
"""
