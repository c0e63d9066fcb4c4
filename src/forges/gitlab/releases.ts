import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { flag, longText, shortText, time, timeOrNull } from "../fields.ts";
import type { ForeignRelease } from "../forge.ts";
import { toBody } from "./bodies.ts";
import { apiPathOf } from "./download-headers.ts";
import type { GitLabProject, ReadPage } from "./project.ts";
import { Id, OptionalOid, GitLabUser } from "./shapes.ts";

const Release = z.object({
  tag_name: shortText,
  name: shortText.nullish(),
  description: longText.nullish(),
  author: GitLabUser,
  created_at: time,
  released_at: timeOrNull.optional(),
  /** Whether `released_at` is in the future. */
  upcoming_release: flag,
  commit: z.object({ id: OptionalOid }).nullish(),
  assets: z.object({
    links: boundedList(z.object({ id: Id, name: shortText, url: shortText }), 1000),
  }),
});

type Release = z.infer<typeof Release>;

/**
 * Reads releases with the files that they link to. The archives of the source are made from the tag
 * here too.
 *
 * GitLab has neither drafts nor pre-releases, and links have neither a size nor a time nor a number
 * of downloads.
 */
export const readReleases: ReadPage<ForeignRelease> = async (project, { page }) => {
  const { value, total, next } = await project.requests.get(
    `${project.root}/releases`,
    boundedList(Release, 100),
    { order_by: "created_at", sort: "asc", per_page: 50, page },
  );
  const ownUrl = await findOwnUrl(project, value);
  const items = value.map((release) => {
    const { released_at: releasedAt, created_at: storedAt, upcoming_release: isUpcoming } = release;
    const createdAt = isUpcoming ? storedAt : (releasedAt ?? storedAt);
    return {
      foreignId: release.tag_name,
      tagName: release.tag_name,
      target: release.commit?.id ?? "",
      title: release.name ?? release.tag_name,
      body: toBody(release.description, project),
      isDraft: false,
      isPrerelease: false,
      publisher: release.author,
      createdAt,
      assets: release.assets.links.map(({ id, name, url }) => ({
        foreignId: String(id),
        name,
        sizeBytes: null,
        downloadCount: 0,
        createdAt,
        url: ownUrl(url),
      })),
    };
  });
  return { items, total, next: next === undefined ? undefined : { page: page + 1 } };
};

/**
 * Packages and jobs are linked by the id of their project. Such an address is rewritten with the
 * project's path, by which `mayHaveToken` recognizes a file of the project.
 */
async function findOwnUrl(
  { requests, root, origin, projectPath }: GitLabProject,
  releases: readonly Release[],
): Promise<(url: string) => string> {
  const byId = `${origin}/api/v4/projects/`;
  const urls = releases.flatMap(({ assets }) => assets.links.map(({ url }) => url));
  if (!urls.some((url) => url.startsWith(byId))) return (url) => url;
  const { value } = await requests.get(root, z.object({ id: Id }));
  const own = `${byId}${value.id}/`;
  return (url) =>
    url.startsWith(own) ? `${origin}${apiPathOf(projectPath)}/${url.slice(own.length)}` : url;
}
