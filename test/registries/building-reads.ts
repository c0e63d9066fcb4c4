/** The reads of registries whose SQL is built anew for each request. The list may only become shorter. */
export const BUILDING_READS: Readonly<Record<string, readonly string[]>> = {
  container: ["tags", "referrers", "catalog", "all tags", "upload"],
  nuget: [
    "query",
    "autocomplete",
    "entry of version 2",
    "versions of version 2",
    "search of version 2",
    "count of version 2",
    "autocomplete of ids",
    "query of everything",
    "query of two words",
    "query of many words",
    "packages of version 2",
    "packages by their id",
  ],
  helm: ["index", "charts", "chart", "version of a chart", "archive", "provenance"],
  debian: ["key", "Release", "InRelease", "Release.gpg", "Packages by their hash"],
};
