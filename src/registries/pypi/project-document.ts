import type { CoreMetadata } from "./core-metadata.ts";
import { fieldOf, fieldsOf } from "./core-metadata.ts";
import type { ProjectFile } from "./project-files.ts";
import { comparePythonVersions, isPreRelease, parsePythonVersion } from "./versions.ts";

/**
 * The stored metadata of a version: the core metadata of its first file, by the names of PyPI's
 * JSON API.
 */
export type VersionMetadata = ReturnType<typeof toVersionMetadata>;

/** Maximum characters of a description that is kept. */
const DESCRIPTION_LENGTH_MAX = 256 * 1024;

/** The part of core metadata that is kept with the version. */
export const toVersionMetadata = (metadata: CoreMetadata) => ({
  author: fieldOf(metadata, "author"),
  author_email: fieldOf(metadata, "author-email"),
  classifiers: fieldsOf(metadata, "classifier"),
  description: metadata.description.slice(0, DESCRIPTION_LENGTH_MAX),
  description_content_type: fieldOf(metadata, "description-content-type"),
  download_url: fieldOf(metadata, "download-url"),
  dynamic: fieldsOf(metadata, "dynamic"),
  home_page: fieldOf(metadata, "home-page"),
  keywords: fieldOf(metadata, "keywords"),
  license: fieldOf(metadata, "license"),
  license_expression: fieldOf(metadata, "license-expression"),
  license_files: fieldsOf(metadata, "license-file"),
  maintainer: fieldOf(metadata, "maintainer"),
  maintainer_email: fieldOf(metadata, "maintainer-email"),
  platform: fieldsOf(metadata, "platform").join(","),
  project_urls: Object.fromEntries(
    fieldsOf(metadata, "project-url").map((text) => {
      const [, label = "", url = ""] = /^([^,]*),\s*(.*)$/.exec(text) ?? ["", text, text];
      return [label.trim(), url.trim()];
    }),
  ),
  provides_extra: fieldsOf(metadata, "provides-extra"),
  requires_dist: fieldsOf(metadata, "requires-dist"),
  requires_python: fieldOf(metadata, "requires-python"),
  summary: fieldOf(metadata, "summary"),
});

/**
 * The version that a project shows: the newest one that is neither yanked nor a pre-release, or
 * else the newest not yanked, or the newest.
 *
 * @param first One of the files.
 */
export function latestVersionOf(first: ProjectFile, files: readonly ProjectFile[]): string {
  const rank = ({ version, isYanked }: ProjectFile): number => {
    const parsed = parsePythonVersion(version);
    return (isYanked ? 0 : 2) + (parsed && isPreRelease(parsed) ? 0 : 1);
  };
  const best = files.reduce((left, right) => {
    const difference = rank(right) - rank(left);
    if (difference !== 0) return difference > 0 ? right : left;
    const [a, b] = [parsePythonVersion(left.version), parsePythonVersion(right.version)];
    return a && b && comparePythonVersions(b, a) > 0 ? right : left;
  }, first);
  return best.version;
}

/** The document of a project or version in PyPI's JSON API. @see https://docs.pypi.org/api/json/ */
export function formatProjectDocument(
  name: string,
  version: string,
  metadata: VersionMetadata,
  files: readonly ProjectFile[],
  { isOfProject, projectUrl }: { readonly isOfProject: boolean; readonly projectUrl: string },
): string {
  const ofVersion = files.filter((file) => file.version === version);
  const releases = Object.fromEntries(
    [...Map.groupBy(files, (file) => file.version)].map(([key, list]) => [key, list.map(toUrl)]),
  );
  return JSON.stringify({
    info: {
      ...metadata,
      bugtrack_url: null,
      docs_url: null,
      downloads: { last_day: -1, last_month: -1, last_week: -1 },
      name,
      package_url: projectUrl,
      project_url: projectUrl,
      release_url: projectUrl,
      version,
      yanked: ofVersion.some(({ isYanked }) => isYanked),
      yanked_reason: ofVersion.find(({ yankReason }) => yankReason !== "")?.yankReason ?? null,
    },
    ...(isOfProject && { releases }),
    urls: ofVersion.map(toUrl),
    vulnerabilities: [],
  });
}

const toUrl = (file: ProjectFile) => ({
  comment_text: "",
  digests: { md5: file.md5, sha256: file.sha256 },
  downloads: -1,
  filename: file.name,
  has_sig: false,
  md5_digest: file.md5,
  packagetype: file.filetype,
  python_version: file.pythonVersion,
  requires_python: file.requiresPython || null,
  size: file.sizeBytes,
  upload_time: new Date(file.uploadedAt).toISOString().slice(0, 19),
  upload_time_iso_8601: new Date(file.uploadedAt).toISOString(),
  url: file.url,
  yanked: file.isYanked,
  yanked_reason: file.yankReason || null,
});
