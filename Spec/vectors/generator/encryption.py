"""encryption-outcome.json: two preferences and two identities give one outcome, chapter 5."""

from .wire import REGISTRIES, document, test

NAMES = ["none", "optional", "required"]
TABLE = {(row["one"], row["other"]): row["outcome"] for row in REGISTRIES["outcomes"]}


def effective(preference, identity):
    return "required" if identity and preference == "optional" else preference


def build():
    tests = []
    for one in NAMES:
        for other in NAMES:
            for one_identity in (False, True):
                for other_identity in (False, True):
                    pair = effective(one, one_identity), effective(other, other_identity)
                    outcome = TABLE[pair]
                    assert outcome == TABLE[pair[1], pair[0]], "the table is symmetric"
                    id = "-".join([one + "+identity" * one_identity, other + "+identity" * other_identity])
                    flags = ["Identity"] if pair != (one, other) else ["Table"]
                    fields = dict(one=dict(preference=one, identity=one_identity),
                                  other=dict(preference=other, identity=other_identity), outcome=outcome)
                    fields.update(dict(result="invalid", error="POLICY", check="outcome") if outcome == "refused"
                                  else dict(result="valid"))
                    tests.append(test(id, f"{pair[0]} with {pair[1]}", flags, **fields))
    notes = {"Table": "the nine cells", "Identity": "an identity turns optional into required"}
    return document("encryption outcome", notes, [
        dict(type="encryption-outcome", spec="5", labels=["enc.outcome", "enc.identity"], tests=tests)])
