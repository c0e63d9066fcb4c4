import type { z } from "zod";

import type { ForeignAsset, ForeignPage, ForeignRelease } from "../forge.ts";
import { absoluteFiles } from "../absolute-files.ts";
import { userOf } from "./authors.ts";
import type { GiteaProject } from "./gitea-project.ts";
import { GiteaRelease } from "./shapes.ts";

const SIZE = 50;

/**
 * Releases by age: the API lists them newest first. Drafts are shown to those alone who may write.
 */
export async function readReleases(
  { lists, path, rootUrl }: GiteaProject,
  cursor: string | undefined,
): Promise<ForeignPage<ForeignRelease>> {
  const list = { path: `${path}/releases`, shape: GiteaRelease, size: SIZE };
  const page = await lists.readBackward(list, cursor);
  return { ...page, items: page.items.map((each) => toRelease(each, rootUrl)) };
}

const toRelease = (release: z.output<typeof GiteaRelease>, rootUrl: string): ForeignRelease => ({
  foreignId: String(release.id),
  tagName: release.tag_name,
  target: release.target_commitish,
  title: release.name,
  body: absoluteFiles(release.body, rootUrl),
  isDraft: release.draft,
  isPrerelease: release.prerelease,
  publisher: userOf(release.author),
  createdAt: release.created_at,
  assets: release.assets.map(toAsset),
});

const toAsset = (asset: z.output<typeof GiteaRelease>["assets"][number]): ForeignAsset => ({
  foreignId: String(asset.id),
  name: asset.name,
  sizeBytes: asset.size ?? null,
  downloadCount: asset.download_count ?? 0,
  createdAt: asset.created_at,
  url: asset.browser_download_url,
});
