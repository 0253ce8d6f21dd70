"""Models that load published weights; parameters are named as in the published files."""
