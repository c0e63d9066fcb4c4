/**
 * The formats of packages, by Gitea's names. The management API knows all; `src/registries` has
 * those that are served.
 */
export const PACKAGE_TYPES = [
  "alpine",
  "arch",
  "cargo",
  "chef",
  "composer",
  "conan",
  "conda",
  "container",
  "cran",
  "debian",
  "generic",
  "go",
  "helm",
  "maven",
  "npm",
  "nuget",
  "pub",
  "pypi",
  "rpm",
  "rubygems",
  "swift",
  "vagrant",
] as const;
export type PackageType = (typeof PACKAGE_TYPES)[number];
