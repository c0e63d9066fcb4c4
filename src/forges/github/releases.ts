import { z } from "zod";

import { listOf, optionalLong, optionalShort, shortText, time, timeOrNull } from "../fields.ts";
import type { ForeignAsset, ForeignPage, ForeignRelease } from "../forge.ts";
import { Account, Id, filledText } from "./fields.ts";
import type { GitHubApi } from "./github-api.ts";
import { readListPage } from "./list-page.ts";

/** Releases come with all their assets, up to 1,000, so that a page has few of them. */
const PAGE_SIZE = 20;

const Asset = z.object({
  id: Id,
  name: filledText,
  state: shortText,
  size: z.int().nonnegative(),
  download_count: z.int().nonnegative(),
  created_at: time,
  /**
   * The asset's address in the API, which returns the file to a request for bytes; the other URL
   * does not accept tokens.
   */
  url: z.url(),
});

/** @see https://docs.github.com/en/rest/releases/releases#list-releases */
const Release = z.object({
  id: Id,
  tag_name: filledText,
  target_commitish: shortText,
  name: optionalShort,
  body: optionalLong,
  draft: z.boolean(),
  prerelease: z.boolean(),
  author: Account,
  created_at: time,
  published_at: timeOrNull,
  assets: listOf(Asset),
});

/**
 * Reads a page of releases, newest first: GitHub has no other order. Drafts are shown to those who
 * may push.
 */
export async function readReleases(
  api: GitHubApi,
  cursor: string | undefined,
): Promise<ForeignPage<ForeignRelease>> {
  const path = `${api.path}/releases`;
  const { items, next } = await readListPage(api, path, Release, { per_page: PAGE_SIZE }, cursor);
  return { items: items.map(toRelease), next };
}

const toRelease = (release: z.infer<typeof Release>): ForeignRelease => ({
  foreignId: String(release.id),
  tagName: release.tag_name,
  target: release.target_commitish,
  title: release.name,
  body: release.body,
  isDraft: release.draft,
  isPrerelease: release.prerelease,
  publisher: release.author,
  // GitHub's `created_at` is the time of the commit.
  createdAt: release.published_at ?? release.created_at,
  // An asset in another state is what an upload left that broke off: it has no content.
  assets: release.assets.filter(({ state }) => state === "uploaded").map(toAsset),
});

const toAsset = (asset: z.infer<typeof Asset>): ForeignAsset => ({
  foreignId: String(asset.id),
  name: asset.name,
  sizeBytes: asset.size,
  downloadCount: asset.download_count,
  createdAt: asset.created_at,
  url: asset.url,
});
