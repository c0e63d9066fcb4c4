import type { GemDependency } from "./parse-gemspec.ts";
import { formatRequirements } from "./compact-index.ts";
import type { FileOfVersion } from "../../domain/packages/package/find-file.ts";
import type { GemFileMetadata } from "./find-gems.ts";

/**
 * A gem as RubyGems.org's API shows it.
 *
 * @param base The URL of the registry.
 * @see https://guides.rubygems.org/rubygems-org-api/
 */
export function toGemJson(base: string, { file, blob, version }: FileOfVersion) {
  const { spec } = file.metadata as GemFileMetadata;
  const dependenciesOf = (kind: GemDependency["kind"]) =>
    spec.dependencies
      .filter((each) => each.kind === kind)
      .map(({ name, requirements }) => ({
        name,
        requirements: formatRequirements(requirements, ", "),
      }));
  return {
    name: spec.name,
    version: spec.number,
    platform: spec.platform,
    version_created_at: new Date(version.createdAt).toISOString(),
    version_downloads: version.downloadCount,
    authors: spec.authors.join(", "),
    info: spec.description || spec.summary,
    licenses: spec.licenses,
    metadata: spec.links,
    yanked: false,
    sha: blob.sha256,
    gem_uri: `${base}/gems/${encodeURIComponent(file.name)}`,
    homepage_uri: spec.homepage || null,
    dependencies: {
      development: dependenciesOf("development"),
      runtime: dependenciesOf("runtime"),
    },
  };
}
