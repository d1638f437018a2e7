"""Constants of the comparison of texts: for torch (`comparison.TextComparison`) and for `numpy_engine`."""

from matese.model.texts.encoding import ROLES

_HYPOTHESIS, _SOURCE, _REFERENCE = map(ROLES.index, ("hypothesis", "source", "reference"))
RELATIONS = (
    (_HYPOTHESIS, _REFERENCE),
    (_HYPOTHESIS, _SOURCE),
    (_REFERENCE, _HYPOTHESIS),
    (_SOURCE, _HYPOTHESIS),
)
"""(of, in): the text whose tokens are matched, and the text they are matched in."""
N_CENTRES = 21
"""Number of features of a cosine: each is 1 at its centre and falls to 0 at the next."""
SHARPNESS = 30.0
"""Factor of the cosines in the weights of the matched states: a cosine lower by 0.1 has a twentieth of the weight."""
USUAL_COSINES = (0.88, 0.74, 0.88, 0.74)
USUAL_SPREAD = 0.07
"""Normalise the mean closest cosine of a text, for each relation: roughly its mean and standard deviation on dev
in layer 8 of multilingual-e5-small."""
