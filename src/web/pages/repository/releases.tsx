import { Hono } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import { findNeighbours } from "../../../domain/packages/releases/find-neighbours.ts";
import { findRelease } from "../../../domain/packages/releases/find-release.ts";
import { listReleases } from "../../../domain/packages/releases/list-releases.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import { hasNamesake, type ReleaseContext } from "../../../shapes/releases/release.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, archivePath, comparePath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { formatBytes } from "../format-bytes.ts";
import { Icon } from "../icon.tsx";
import type { Feed } from "../layout.tsx";
import { renderComment } from "../markup.ts";
import { Pager, readListPage } from "../pager.tsx";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";
import { canWriteReleases, releaseEditPath } from "./release-form.tsx";
import { UserText } from "../user-text.tsx";

const PAGE_SIZE = 10;

const READ_RELEASES: Requirement = { unit: "releases", mode: "read" };

/** The pages of releases. */
export const releases = new Hono<WebEnv>();

releases.get("/:owner/:repo/releases", async (c) => {
  const page = await enterRepositoryPage(c, READ_RELEASES);
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  // One more, from which the last of the page differs.
  const { items, total } = await listReleases(ctx, repo, {}, { ...list, size: PAGE_SIZE + 1 });
  const published = items.filter(({ row }) => !row.isDraft);
  const latest = published.find(({ row }) => !row.isPrerelease);
  const shown = await Promise.all(
    items.slice(0, PAGE_SIZE).map((release) => {
      const at = published.indexOf(release);
      const previousTag = at < 0 ? undefined : published[at + 1]?.row.tagName;
      const isLatest = list.number === 1 && release === latest;
      return toShown(page, release, { previousTag, isLatest });
    }),
  );
  return renderRepository(
    c,
    page,
    {
      tab: "releases",
      title: `Releases - ${repo.owner.name}/${repo.row.name}`,
      hasUserText: true,
      feeds: feedsOf(page),
    },
    <>
      {canWriteReleases(page) && !repo.row.isEmpty ? (
        <p>
          <a class="button primary" href={`${repositoryPath(repo)}/releases/new`}>
            New release
          </a>
        </p>
      ) : undefined}
      {total === 0 ? <p>This repository has no releases yet.</p> : undefined}
      {shown.map((each) => (
        <ReleaseBox page={page} shown={each} />
      ))}
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});

releases.get("/:owner/:repo/releases/latest", async (c) => {
  const { ctx, repo } = await enterRepositoryPage(c, READ_RELEASES);
  const { row } = await findRelease(ctx, repo, "latest");
  return c.redirect(`${repositoryPath(repo)}/releases/tag/${encodePath(row.tagName)}`, 303);
});

releases.get("/:owner/:repo/releases/tag/:tag{.+}", async (c) => {
  const page = await enterRepositoryPage(c, READ_RELEASES);
  const { ctx, repo } = page;
  const tag = c.req.param("tag");
  const [release, { previousTag, latestTag }] = await Promise.all([
    findRelease(ctx, repo, { tag }),
    findNeighbours(ctx, repo, tag),
  ]);
  const { row } = release;
  const shown = await toShown(page, release, {
    previousTag: row.isDraft ? undefined : previousTag,
    isLatest: !row.isDraft && row.tagName === latestTag,
  });
  const names = `${repo.owner.name}/${repo.row.name}`;
  return renderRepository(
    c,
    page,
    {
      tab: "releases",
      title: `${row.title || row.tagName} - ${names}`,
      hasUserText: true,
      feeds: feedsOf(page),
    },
    <ReleaseBox page={page} shown={shown} />,
  );
});

const feedsOf = ({ repo }: EnteredRepository): readonly Feed[] => [
  {
    path: `${repositoryPath(repo)}/releases.atom`,
    title: `Releases of ${repo.owner.name}/${repo.row.name}`,
  },
];

/** What a release is among the others. */
interface ReleaseStanding {
  /** The tag of the one before it. */
  previousTag: string | undefined;
  isLatest: boolean;
}

/** A release with its notes as HTML. */
interface ShownRelease extends ReleaseStanding {
  release: ReleaseContext;
  notes: string;
}

const toShown = async (
  { ctx, repo }: EnteredRepository,
  release: ReleaseContext,
  standing: ReleaseStanding,
): Promise<ShownRelease> => ({
  ...standing,
  release,
  notes: await renderComment(ctx, repo, release.row.body),
});

function ReleaseBox({ page, shown }: { page: EnteredRepository; shown: ShownRelease }) {
  const { repo, ctx } = page;
  const { release, previousTag, isLatest } = shown;
  const { row, publisher, assets } = release;
  const path = repositoryPath(repo);
  const tag = encodePath(row.tagName);
  const archives = [
    ["Source code (zip)", archivePath(repo, row.tagName, "zip")],
    ["Source code (tar.gz)", archivePath(repo, row.tagName, "tar.gz")],
  ] as const;
  return (
    <article class="box">
      <div class="box-head">
        <h2 class="grow">
          <a href={`${path}/releases/tag/${tag}`}>{row.title || row.tagName}</a>{" "}
          {row.isDraft ? <span class="label">Draft</span> : undefined}{" "}
          {row.isPrerelease ? <span class="label">Pre-release</span> : undefined}{" "}
          {isLatest ? <span class="label">Latest</span> : undefined}
        </h2>
        <a href={sourcePath(repo, "src", { kind: "tag", name: row.tagName })}>
          <Icon name="tag" />
          {row.tagName}
        </a>
        <span class="soft">
          {publisher ? <a href={accountPath(publisher)}>{publisher.name}</a> : "Ghost"}{" "}
          <Ago at={row.publishedAt ?? row.createdAt} now={ctx.now} />
        </span>
        {previousTag !== undefined && isAllowed(repo, READ_CODE) ? (
          <a href={comparePath(repo, previousTag, row.tagName)}>
            {"Changes since "}
            {previousTag}
          </a>
        ) : undefined}
        {canWriteReleases(page) ? (
          <a class="button small" href={releaseEditPath(release)}>
            Edit<span class="hidden">{` ${row.title || row.tagName}`}</span>
          </a>
        ) : undefined}
      </div>
      {shown.notes.trim() === "" ? undefined : <UserText html={shown.notes} />}
      <ul class="inside assets">
        {assets.map((asset) => (
          <li>
            <a
              href={
                hasNamesake(asset, release)
                  ? `/attachments/${asset.uuid}`
                  : `${path}/releases/download/${tag}/${encodeURIComponent(asset.name)}`
              }
            >
              {asset.name}
            </a>{" "}
            <span class="soft">{formatBytes(asset.sizeBytes)}</span>
          </li>
        ))}
        {row.isDraft
          ? undefined
          : archives.map(([label, href]) => (
              <li>
                <a href={href}>{label}</a>
              </li>
            ))}
      </ul>
    </article>
  );
}
