import { Hono } from "hono";

import { findRelease } from "../../../domain/packages/releases/find-release.ts";
import { listReleases } from "../../../domain/packages/releases/list-releases.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import type { ReleaseContext } from "../../../shapes/releases/release.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, archivePath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { formatBytes } from "../format-bytes.ts";
import { Icon } from "../icon.tsx";
import type { Feed } from "../layout.tsx";
import { renderComment } from "../markup.ts";
import { Pager, readListPage } from "../pager.tsx";
import { enterRepositoryPage, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";
import { UserText } from "../user-text.tsx";

const PAGE_SIZE = 10;

const READ_RELEASES: Requirement = { unit: "releases", mode: "read" };

/** The pages of releases. */
export const releases = new Hono<WebEnv>();

releases.get("/:owner/:repo/releases", async (c) => {
  const page = await enterRepositoryPage(c, READ_RELEASES);
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listReleases(ctx, repo, {}, list);
  const shown = await Promise.all(items.map((release) => withNotes(page, release)));
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
  const release = await findRelease(ctx, repo, { tag: c.req.param("tag") });
  const { row } = release;
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
    <ReleaseBox page={page} shown={await withNotes(page, release)} />,
  );
});

const feedsOf = ({ repo }: EnteredRepository): readonly Feed[] => [
  {
    path: `${repositoryPath(repo)}/releases.atom`,
    title: `Releases of ${repo.owner.name}/${repo.row.name}`,
  },
];

/** A release with its notes as HTML. */
interface ShownRelease {
  release: ReleaseContext;
  notes: string;
}

const withNotes = async (
  { ctx, repo }: EnteredRepository,
  release: ReleaseContext,
): Promise<ShownRelease> => ({ release, notes: await renderComment(ctx, repo, release.row.body) });

function ReleaseBox({
  page: { repo, ctx },
  shown,
}: {
  page: EnteredRepository;
  shown: ShownRelease;
}) {
  const { row, publisher, assets } = shown.release;
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
          {row.isPrerelease ? <span class="label">Pre-release</span> : undefined}
        </h2>
        <a href={sourcePath(repo, "src", { kind: "tag", name: row.tagName })}>
          <Icon name="tag" />
          {row.tagName}
        </a>
        <span class="soft">
          {publisher ? <a href={accountPath(publisher)}>{publisher.name}</a> : "Ghost"}{" "}
          <Ago at={row.publishedAt ?? row.createdAt} now={ctx.now} />
        </span>
      </div>
      {shown.notes.trim() === "" ? undefined : <UserText html={shown.notes} />}
      <ul class="inside assets">
        {assets.map(({ name, sizeBytes }) => (
          <li>
            <a href={`${path}/releases/download/${tag}/${encodeURIComponent(name)}`}>{name}</a>{" "}
            <span class="soft">{formatBytes(sizeBytes)}</span>
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
