"""The scheduler configuration of the sample, with a common mistake: its order of tiers protects nobody."""

SAMPLE_CONF = """\
# gang and conformance are above proportion: tier 1 picks the victims of reclaim, proportion in tier 2 is
# called only where tier 1 accepts no candidate, and elsewhere deserved protects no queue.
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
