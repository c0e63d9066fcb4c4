import { type Context, Hono } from "hono";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import {
  countDivergence,
  type DivergenceCount,
} from "../../../domain/code/branches/count-divergence.ts";
import { deleteBranch } from "../../../domain/code/branches/delete-branch.ts";
import {
  branchNameOf,
  findBranches,
  readBranches,
} from "../../../domain/code/branches/list-branches.ts";
import {
  type DeletedBranchEntry,
  listDeletedBranches,
} from "../../../domain/code/branches/list-deleted-branches.ts";
import { restoreBranch } from "../../../domain/code/branches/restore-branch.ts";
import { listTags } from "../../../domain/code/tags/list-tags.ts";
import { findRef, readSnapshot } from "../../../domain/code/git/open-snapshot.ts";
import {
  findPullsOfHeads,
  type PullOfHead,
} from "../../../domain/pulls/pull/find-pulls-of-heads.ts";
import { decodeText } from "../../../git/byte-text.ts";
import type { BranchEntry } from "../../../shapes/git/branch.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import type { WebEnv } from "../../env.ts";
import { archivePath, commitPath, comparePath, repositoryPath, sourcePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { CopyIcon } from "../copy-button.tsx";
import { Count } from "../count.tsx";
import { readForm } from "../form.ts";
import { Icon } from "../icon.tsx";
import { Form, Notice } from "../layout.tsx";
import { requireOwn } from "../open-page.ts";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { readSearchText } from "../read-search-text.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { enterRepositoryPage, READ_CODE, type EnteredRepository } from "./enter.ts";
import { renderRepository } from "./frame.tsx";

const PAGE_SIZE = 50;

const WRITE_CODE: Requirement = { unit: "code", mode: "write" };

/** The pages of all branches and of all tags. */
export const branches = new Hono<WebEnv>();

branches.get("/:owner/:repo/branches", async (c) =>
  showBranches(c, await enterRepositoryPage(c, READ_CODE)),
);

branches.post("/:owner/:repo/branches/delete", (c) => change(c, deleteBranch, showBranches));

/** Changes the branch that a form names; a refusal is shown with the list that has the form. */
async function change(
  c: Context<WebEnv>,
  verb: typeof deleteBranch | typeof restoreBranch,
  show: typeof showBranches | typeof showDeleted,
): Promise<Response> {
  const page = await enterRepositoryPage(c, WRITE_CODE, ["write:repository"]);
  requireOwn(c, page);
  const form = await readForm(c);
  return orRefuse(
    c,
    async () => {
      await verb(page.ctx, page.repo, form.text("name"));
      return redirectAfterWrite(c, `${repositoryPath(page.repo)}/branches`);
    },
    (refusal) => show(c, page, refusal),
  );
}

async function showBranches(
  c: Context<WebEnv>,
  page: EnteredRepository,
  refusal?: Refusal,
): Promise<Response> {
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const text = readSearchText(c);
  const { items, total, pulls, counts } = await readSnapshot(ctx, repo, async (snapshot) => {
    const found = findBranches(snapshot, list, text);
    const base = findRef(snapshot, `refs/heads/${repo.row.defaultBranch}`);
    const oids = found.items.map(({ oid }) => oid);
    const [entries, pullsOfPage, divergence] = await Promise.all([
      readBranches(ctx, repo, snapshot, found.items),
      findPullsOfHeads(
        ctx,
        repo,
        found.items.map(({ name }) => branchNameOf(name)),
      ),
      base && countDivergence(snapshot, base.oid, oids),
    ]);
    return { items: entries, total: found.total, pulls: pullsOfPage, counts: divergence };
  });
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: `Branches - ${repo.owner.name}/${repo.row.name}`,
      ...(refusal ? { status: refusal.status } : {}),
    },
    <>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      <h2>
        <Count of={total} />
        {` branch${total === 1 ? "" : "es"}`}
      </h2>
      <form class="filters" role="search" action={`${repositoryPath(repo)}/branches`}>
        <input
          type="search"
          name="q"
          value={text}
          aria-label="Part of a branch's name"
          placeholder="Part of a name"
        />
        <button type="submit">Search</button>
        {canChange(page) ? (
          <a href={`${repositoryPath(repo)}/branches/deleted`}>Deleted branches</a>
        ) : undefined}
      </form>
      <ul class="box commits">
        {items.map((branch) => (
          <Branch
            page={page}
            branch={branch}
            count={counts?.get(branch.head.commitOid)}
            pull={pulls.get(branch.name)}
          />
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
}

interface BranchProps {
  page: EnteredRepository;
  branch: BranchEntry;
  /** How far it has diverged from the default branch; undefined where that is not known. */
  count: DivergenceCount | undefined;
  pull: PullOfHead | undefined;
}

function Branch({ page, branch, count, pull }: BranchProps) {
  const { ctx, repo } = page;
  const { name, head, rules } = branch;
  const { commit, commitOid } = head;
  const isDefault = name === repo.row.defaultBranch;
  const canDelete = !isDefault && rules.length === 0 && canChange(page);
  return (
    <li>
      <div class="grow">
        <Icon name="branch" />
        <a href={sourcePath(repo, "src", { kind: "branch", name })}>{name}</a>
        <CopyIcon text={name} subject="the name" />{" "}
        {isDefault ? <span class="label">Default</span> : undefined}{" "}
        {rules.length > 0 ? <span class="label">Protected</span> : undefined}{" "}
        {pull ? <PullLink pull={pull} /> : undefined}
        <div class="soft">
          <a class="oid" href={commitPath(repo, commitOid)}>
            {commitOid.slice(0, 10)}
          </a>{" "}
          {decodeCommitText(commit, commit.message).split("\n", 1)[0]}
        </div>
      </div>
      {isDefault || !count ? undefined : (
        <span class="soft" title={`Compared with ${repo.row.defaultBranch}`}>
          <Count of={count.ahead} />
          {" ahead, "}
          <Count of={count.behind} />
          {" behind"}
        </span>
      )}
      <span class="soft">
        <Ago at={gitTimeMs(commit.committer.timeSeconds)} now={ctx.now} />
      </span>
      <a href={sourcePath(repo, "commits", { kind: "branch", name })}>History</a>
      {isDefault ? undefined : (
        <a href={comparePath(repo, repo.row.defaultBranch, name)}>Compare</a>
      )}
      <ArchiveLinks page={page} name={name} />
      {canDelete ? <DeleteForm page={page} name={name} /> : undefined}
    </li>
  );
}

/** The archives of a branch or a tag. */
function ArchiveLinks({ page: { repo }, name }: { page: EnteredRepository; name: string }) {
  return (
    <>
      <a href={archivePath(repo, name, "zip")}>
        ZIP<span class="hidden">{` of ${name}`}</span>
      </a>
      <a href={archivePath(repo, name, "tar.gz")}>
        tar.gz<span class="hidden">{` of ${name}`}</span>
      </a>
    </>
  );
}

/** Whether the reader may change the branches of a repository, but for its rules. */
const canChange = ({ ctx, repo }: EnteredRepository): boolean =>
  ctx.actor.user !== undefined && repo.row.archivedAt === null && isAllowed(repo, WRITE_CODE);

const PULL_STATES = { open: "Open", merged: "Merged", closed: "Closed" } as const;

function PullLink({ pull: { base, number, state } }: { pull: PullOfHead }) {
  return (
    <a class={`label ${state}`} href={`${repositoryPath(base)}/pulls/${number}`}>
      <Icon name="pull" />
      {`#${number} ${PULL_STATES[state]}`}
    </a>
  );
}

/** A menu with the form that deletes a branch, so that one click deletes nothing. */
function DeleteForm({
  page: { repo, formToken },
  name,
}: {
  page: EnteredRepository;
  name: string;
}) {
  return (
    <details class="menu end">
      <summary>
        Delete<span class="hidden">{` ${name}`}</span>
      </summary>
      <div class="menu-body">
        <p>It can be restored for some time. Later, commits that only it has are lost.</p>
        <Form action={`${repositoryPath(repo)}/branches/delete`} formToken={formToken}>
          <input type="hidden" name="name" value={name} />
          <button type="submit" class="danger">{`Delete ${name}`}</button>
        </Form>
      </div>
    </details>
  );
}

branches.get("/:owner/:repo/branches/deleted", async (c) =>
  showDeleted(c, await enterRepositoryPage(c, WRITE_CODE)),
);

branches.post("/:owner/:repo/branches/restore", (c) => change(c, restoreBranch, showDeleted));

async function showDeleted(
  c: Context<WebEnv>,
  page: EnteredRepository,
  refusal?: Refusal,
): Promise<Response> {
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await readSnapshot(ctx, repo, (snapshot) =>
    listDeletedBranches(ctx, repo, snapshot, list),
  );
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: `Deleted branches - ${repo.owner.name}/${repo.row.name}`,
      ...(refusal ? { status: refusal.status } : {}),
    },
    <>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      <h2>
        <Count of={total} />
        {` deleted branch${total === 1 ? "" : "es"}`}
      </h2>
      <p>
        {total === 0 ? "No branch was deleted lately. " : undefined}
        <a href={`${repositoryPath(repo)}/branches`}>All branches</a>
      </p>
      <ul class="box commits">
        {items.map((branch) => (
          <DeletedBranch page={page} branch={branch} />
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
}

interface DeletedBranchProps {
  page: EnteredRepository;
  branch: DeletedBranchEntry;
}

function DeletedBranch({ page, branch }: DeletedBranchProps) {
  const { ctx, repo, formToken } = page;
  const { name, commitOid, deletedAt, head } = branch;
  return (
    <li>
      <div class="grow">
        <Icon name="branch" />
        {name}
        <div class="soft">
          <span class="oid">{commitOid.slice(0, 10)}</span>{" "}
          {head
            ? decodeCommitText(head.commit, head.commit.message).split("\n", 1)[0]
            : "Its commits have been removed: push it again from a clone that has it."}
        </div>
      </div>
      <span class="soft">
        {"deleted "}
        <Ago at={deletedAt} now={ctx.now} />
      </span>
      {head && canChange(page) ? (
        <Form
          action={`${repositoryPath(repo)}/branches/restore`}
          formToken={formToken}
          class="inline"
        >
          <input type="hidden" name="name" value={name} />
          <button type="submit" class="small">
            Restore<span class="hidden">{` ${name}`}</span>
          </button>
        </Form>
      ) : undefined}
    </li>
  );
}

branches.get("/:owner/:repo/tags", async (c) => {
  const page = await enterRepositoryPage(c, READ_CODE);
  const { ctx, repo } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await readSnapshot(ctx, repo, (snapshot) => listTags(snapshot, list));
  const path = repositoryPath(repo);
  return renderRepository(
    c,
    page,
    {
      tab: "code",
      title: `Tags - ${repo.owner.name}/${repo.row.name}`,
      feeds: [{ path: `${path}/tags.atom`, title: `Tags of ${repo.owner.name}/${repo.row.name}` }],
    },
    <>
      <h2>{`${total} tag${total === 1 ? "" : "s"}`}</h2>
      {total === 0 ? <p>This repository has no tags yet.</p> : undefined}
      <ul class="box commits">
        {items.map(({ name, commitOid, message, timeSeconds }) => (
          <li>
            <div class="grow">
              <Icon name="tag" />
              <a href={sourcePath(repo, "src", { kind: "tag", name })}>{name}</a>
              <div class="soft">
                <a class="oid" href={commitPath(repo, commitOid)}>
                  {commitOid.slice(0, 10)}
                </a>{" "}
                {decodeText(message).trimStart().split("\n", 1)[0]}
              </div>
            </div>
            <span class="soft">
              <Ago at={gitTimeMs(timeSeconds)} now={ctx.now} />
            </span>
            <ArchiveLinks page={page} name={name} />
          </li>
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
    </>,
  );
});
