/** The reads of registries whose SQL is built anew for each request. The list may only become shorter. */
export const BUILDING_READS: Readonly<Record<string, readonly string[]>> = {
  container: ["tags", "referrers", "catalog", "all tags", "upload"],
  helm: ["index", "charts", "chart", "version of a chart", "archive", "provenance"],
  debian: ["key", "Release", "InRelease", "Release.gpg", "Packages by their hash"],
};
