"""How is the sample's scheduler configured? As many are: with a tier order that protects nobody."""

SAMPLE_CONF = """\
# gang and conformance stand above proportion: when a queue reclaims, the first tier that names victims
# decides alone, and proportion, which knows who holds more than it deserves, is not asked.
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
