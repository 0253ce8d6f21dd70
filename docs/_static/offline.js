// Summaries of search results are fetched, which browsers refuse to pages opened from files.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
