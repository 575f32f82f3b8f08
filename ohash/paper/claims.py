"""All claims of the paper that are tested here, each in our words with its place and its test."""

from ohash.paper.cost_claims import COST_CLAIMS
from ohash.paper.method_claims import METHOD_CLAIMS
from ohash.paper.new_data_claims import NEW_DATA_CLAIMS
from ohash.paper.quality_claims import QUALITY_CLAIMS
from ohash.paper.theory_claims import THEORY_CLAIMS

CLAIMS = (*METHOD_CLAIMS, *NEW_DATA_CLAIMS, *QUALITY_CLAIMS, *COST_CLAIMS, *THEORY_CLAIMS)
