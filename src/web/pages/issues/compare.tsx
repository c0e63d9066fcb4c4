import { Hono } from "hono";
import type { Context } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import {
  chooseHeadRepository,
  compareHistories,
  type ComparisonText,
  findRevisions,
  parseComparison,
} from "../../../domain/code/commits/compare-revisions.ts";
import { listFileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import { readCommits } from "../../../domain/code/commits/read-commits.ts";
import { hasRefs, readSideBySide } from "../../../domain/code/git/open-snapshot.ts";
import { findPullTemplate } from "../../../domain/issues/issue/find-templates.ts";
import { findProposalChoices } from "../../../domain/pulls/pull/find-proposal-choices.ts";
import { EMPTY_TREE_OID } from "../../../git/oid.ts";
import { Failure, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { encodePath } from "../../../shapes/urls.ts";
import type { WebEnv } from "../../env.ts";
import { comparePath, repositoryPath } from "../addresses.ts";
import { Count } from "../count.tsx";
import { UnshownRefusal } from "../keep-text.tsx";
import { type ListPage, Pager, readListPage } from "../pager.tsx";
import type { Refused } from "./issue-head.tsx";
import {
  mayPropose,
  NewPullForm,
  openPullByForm,
  type Proposal,
  WithoutFork,
} from "./new-pull.tsx";
import { CommitRow, toListParts } from "../repository/commits.tsx";
import { CompareForm, headNameOf, invert } from "./compare-form.tsx";
import { Diff, DIFF_PAGE, showDiffs } from "../repository/diff.tsx";
import { type DiffView, isFound, readDiffView } from "../repository/diff-view.ts";
import {
  enterNetworkPage,
  type EnteredNetwork,
  enterRepositoryPage,
  READ_CODE,
} from "../repository/enter.ts";
import { renderRepository } from "../repository/frame.tsx";
import { readRefs } from "../repository/ref-chooser.tsx";
import { renderFields } from "./template-fields.tsx";
import { TEXT_PAGE } from "../text-field.tsx";

/** Commits of a page. */
const PAGE_SIZE = 50;

/** The pages that compare two branches, tags or commits, also of two repositories. */
export const compare = new Hono<WebEnv>();

compare.get("/:owner/:repo/compare", async (c) => {
  const { base = "", head = "", direct } = c.req.query();
  if (base === "" && head === "") return showComparison(c, "");
  const { owner, repo } = c.req.param();
  const dots = direct === "on" ? ".." : "...";
  return c.redirect(`/${owner}/${repo}/compare/${encodePath(base)}${dots}${encodePath(head)}`, 303);
});

compare.get("/:owner/:repo/compare/:basehead{.+}", async (c) => {
  const { owner, repo, basehead } = c.req.param();
  const { base, head } = parseComparison(basehead);
  // Git names a branch that did not exist before a push by this id.
  if (base !== undefined && /^0{40}$/.test(base)) {
    return c.redirect(`/${owner}/${repo}/compare/${encodePath(head)}`, 303);
  }
  return showComparison(c, basehead);
});

compare.post("/:owner/:repo/compare/:basehead{.+}", (c) => {
  const { basehead } = c.req.param();
  const text = parseComparison(basehead);
  const proposed = { base: text.base ?? "", head: headNameOf(text) };
  return openPullByForm(c, proposed, (refused) => showComparison(c, basehead, refused));
});

// The address that a push prints.
compare.get("/:owner/:repo/pulls/new/:branch{.+}", async (c) => {
  const { repo } = await enterRepositoryPage(c, READ_CODE);
  const path = comparePath(repo, repo.row.defaultBranch, c.req.param("branch"));
  return c.redirect(`${path}?expand=1`, 303);
});

/** @param basehead As `parseComparison` takes it; "" for the default branch. */
async function showComparison(
  c: Context<WebEnv>,
  basehead: string,
  refused?: Refused,
): Promise<Response> {
  const parsed = parseComparison(basehead);
  const { headOwner, headRepo } = parsed;
  const relative = headOwner === undefined ? undefined : { owner: headOwner, repo: headRepo };
  const page = await enterNetworkPage(c, READ_CODE, relative);
  const { defaultBranch } = page.repo.row;
  // An empty name stands for the default branch.
  const text = {
    ...parsed,
    base: parsed.base || defaultBranch,
    head: parsed.head || defaultBranch,
  };
  const view = readDiffView(c, page.ctx.actor.user);
  const list = readListPage(c, PAGE_SIZE);
  let headRepository: RepositoryContext;
  let found: Awaited<ReturnType<typeof readComparison>>;
  try {
    headRepository = chooseHeadRepository(page.repo, page.relatives, text);
    found = await readComparison(page, headRepository, text, list, view);
  } catch (error) {
    if (!(error instanceof Failure && isWrongName(error))) throw error;
    return renderWrongName(c, page, text, refused);
  }
  return renderComparison(c, page, { ...found, text, headRepository, list, view, refused });
}

/** What a form with a wrong name comes to. */
const isWrongName = ({ kind }: Failure): boolean => kind === "invalid" || kind === "not_found";

async function readComparison(
  page: EnteredNetwork,
  headRepository: RepositoryContext,
  text: ComparisonText,
  list: ListPage,
  view: DiffView,
) {
  const { ctx, repo } = page;
  return readSideBySide(ctx, repo, headRepository, async ([baseSnapshot, headSnapshot]) => {
    if (!hasRefs(baseSnapshot.state)) throw notFound();
    const revisions = await findRevisions(baseSnapshot, headSnapshot, repo, text);
    const { repository } = headSnapshot;
    const compared = await compareHistories(repository, revisions, list, text.isDirect);
    const { base, head } = revisions;
    const isProposal =
      mayPropose(page) &&
      base.kind === "branch" &&
      head.kind === "branch" &&
      !text.isDirect &&
      compared.commitCount > 0;
    const pair = {
      headRepoId: headRepository.row.id,
      headBranch: head.name,
      baseBranch: base.name,
    };
    const [commits, choices] = await Promise.all([
      readCommits(ctx, headSnapshot, compared.nodes, toListParts(headRepository)),
      isProposal ? findProposalChoices(ctx, repo, pair) : undefined,
    ]);
    const template = choices && (await findPullTemplate(baseSnapshot, repo));
    const proposal: Proposal | undefined = choices && {
      base: base.name,
      headRepository,
      head: head.name,
      commits,
      commitCount: compared.commitCount,
      template,
      fieldsHtml: template?.fields && (await renderFields(ctx, repo, template.fields)),
      choices,
    };
    const oldNode = text.isDirect ? revisions.base.node : compared.mergeBase;
    const files =
      oldNode === undefined
        ? undefined
        : {
            oldOid: repository.graph.oid(oldNode),
            diffs: await listFileDiffs(
              repository,
              await repository.graph.loadRootOid(oldNode),
              (await repository.graph.loadRootOid(revisions.head.node)) ?? EMPTY_TREE_OID,
              view.query,
            ),
          };
    const [baseRefs, headRefs] = [readRefs(baseSnapshot), readRefs(headSnapshot)];
    return { revisions, compared, commits, files, baseRefs, headRefs, proposal };
  });
}

type Found = Awaited<ReturnType<typeof readComparison>> & {
  text: ComparisonText;
  headRepository: RepositoryContext;
  list: ListPage;
  view: DiffView;
  refused: Refused | undefined;
};

/** @throws Failure `not_found` for a part of the diff that does not exist. */
async function renderComparison(
  c: Context<WebEnv>,
  page: EnteredNetwork,
  found: Found,
): Promise<Response> {
  const { ctx, repo } = page;
  const { revisions, compared, commits, files, text, headRepository, list, view } = found;
  const { base, head } = revisions;
  if (files?.diffs && !isFound(files.diffs, view)) throw notFound();
  const shown = await showDiffs(ctx, files?.diffs?.items ?? [], view);
  const dots = text.isDirect ? ".." : "...";
  const title = `Comparing ${base.commitOid.slice(0, 10)}${dots}${head.commitOid.slice(0, 10)}`;
  const { commitCount } = compared;
  const { proposal } = found;
  const isFork = headRepository.row.id !== repo.row.id;
  return renderRepository(
    c,
    page,
    {
      ...TEXT_PAGE,
      scripts: [...DIFF_PAGE.scripts, ...TEXT_PAGE.scripts],
      tab: "code",
      title: `${title} - ${repo.owner.name}/${repo.row.name}`,
      status: found.refused?.refusal.status ?? 200,
    },
    <>
      <CompareForm
        page={page}
        text={text}
        headRepository={headRepository}
        baseRefs={found.baseRefs}
        headRefs={found.headRefs}
      />
      <Relation page={page} found={found} />
      {proposal ? (
        <NewPullForm
          page={page}
          proposal={proposal}
          path={proposalPath(page, proposal)}
          refused={found.refused}
        />
      ) : found.refused ? (
        <UnshownRefusal {...found.refused} />
      ) : undefined}
      {mayPropose(page) && !isFork && !isAllowed(repo, { unit: "code", mode: "write" }) ? (
        <WithoutFork page={page} />
      ) : undefined}
      {commits.length === 0 ? undefined : (
        <>
          <h2>
            <Count of={commitCount} />
            {` commit${commitCount === 1 ? "" : "s"}`}
          </h2>
          <ol class="box commits">
            {commits.map((entry) => (
              <CommitRow page={{ ctx, repo: headRepository }} entry={entry} path="" />
            ))}
          </ol>
          <Pager url={c.req.url} page={list} total={commitCount} />
        </>
      )}
      {files?.diffs && files.diffs.changes.length > 0 ? (
        <Diff
          diffs={files.diffs}
          shown={shown}
          sides={{
            old: { repo, commitOid: files.oldOid },
            fresh: { repo: headRepository, commitOid: head.commitOid },
          }}
          view={view}
        />
      ) : undefined}
      {files && !files.diffs ? (
        <p class="notice">Too many files differ to be shown: more than 3000.</p>
      ) : undefined}
    </>,
  );
}

/** The comparison with a full name of the head: an owner may have several forks. */
function proposalPath({ repo }: EnteredNetwork, { base, head, headRepository }: Proposal): string {
  const { owner, row } = headRepository;
  const isFork = row.id !== repo.row.id;
  return comparePath(repo, base, isFork ? `${owner.name}/${row.name}:${head}` : head);
}

/** How two histories relate where there is more, or less, to say than their commits do. */
function Relation({ page: { repo }, found }: { page: EnteredNetwork; found: Found }) {
  const { revisions, compared, text, headRepository, files } = found;
  const { aheadCount, behindCount, mergeBase } = compared;
  const names = { base: text.base ?? "", head: headNameOf(text) };
  if (revisions.base.commitOid === revisions.head.commitOid) {
    return <p>Both are the same commit: there is nothing to compare.</p>;
  }
  if (mergeBase === undefined) {
    return (
      <p class="notice">
        The two histories have no commit in common.{" "}
        {text.isDirect ? undefined : (
          <a href={comparePath(repo, names.base, names.head, "..")}>
            Compare the files themselves.
          </a>
        )}
      </p>
    );
  }
  return (
    <p>
      {aheadCount === 0 ? `${names.base} has all commits of ${names.head}` : undefined}
      {aheadCount > 0
        ? `${names.head} is ${aheadCount} commit${plural(aheadCount)} ahead`
        : undefined}
      {behindCount > 0 ? (
        <>
          {aheadCount === 0 ? ", and " : " and "}
          <a href={invert(repo, headRepository, text)}>
            {`${behindCount} commit${plural(behindCount)} ${aheadCount === 0 ? "more" : "behind"}`}
          </a>
        </>
      ) : undefined}
      {files?.diffs?.changes.length === 0 ? ". No file differs" : undefined}.
    </p>
  );
}

const plural = (count: number): string => (count === 1 ? "" : "s");

function renderWrongName(
  c: Context<WebEnv>,
  page: EnteredNetwork,
  text: ComparisonText,
  refused: Refused | undefined,
): Response | Promise<Response> {
  const { repo } = page;
  return renderRepository(
    c,
    page,
    { tab: "code", title: `Compare - ${repo.owner.name}/${repo.row.name}`, status: 404 },
    <>
      <p class="notice error" role="alert">
        There is no such branch, tag or commit, or it is not for you.
      </p>
      {refused ? <UnshownRefusal {...refused} /> : undefined}
      <CompareForm
        page={page}
        text={text}
        headRepository={repo}
        baseRefs={undefined}
        headRefs={undefined}
      />
      <p>
        <a href={`${repositoryPath(repo)}/branches`}>All branches</a>
      </p>
    </>,
  );
}
