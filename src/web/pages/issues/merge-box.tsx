import type { Child, PropsWithChildren } from "hono/jsx";

import { isAllowed } from "../../../auth/access/permission.ts";
import type {
  CommitState,
  Mergeability,
  MergeQueueState,
  MergeStyle,
} from "../../../db/schema/index.ts";
import { TOO_FEW_APPROVALS } from "../../../domain/code/protections/merge-refusal.ts";
import type { PullMergeState } from "../../../domain/pulls/merge/read-merge-state.ts";
import type { Form } from "../form.ts";
import { isDraftTitle } from "../../../shapes/issues/issue.ts";
import { isMergeabilityCurrent, type PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { MergeQueueEntryContext } from "../../../shapes/pulls/merge-queue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import { accountPath, commitPath, repositoryPath } from "../addresses.ts";
import { FORMER_TITLE } from "./action.ts";
import { ActionForm, type Sending } from "./action-form.tsx";
import { mayChange } from "./issue-head.tsx";
import type { EnteredRepository } from "../repository/enter.ts";
import { CheckName, StatusIcon } from "../repository/commit-line.tsx";
import { toShellWord } from "../shell-word.ts";

/** The styles of a merge, with their names. */
const STYLE_NAMES: Readonly<Record<MergeStyle, string>> = {
  merge: "Create a merge commit",
  rebase: "Rebase, then fast-forward",
  "rebase-merge": "Rebase, then create a merge commit",
  squash: "Create a squash commit",
  "fast-forward-only": "Fast-forward only",
};

interface MergeBoxProps {
  page: EnteredRepository;
  state: PullMergeState;
  sending: Sending;
  /** The form that merges it, as it was refused. */
  sent?: Form | undefined;
}

/** Whether a pull request can be merged, what is missing, and the forms that merge it. */
export function MergeBox(props: MergeBoxProps) {
  const { pull } = props.state;
  const { row } = pull;
  if (row.isClosed) return <Closed {...props} />;
  return (
    <section class="box merge-box" aria-labelledby="merge">
      <h2 class="box-head" id="merge">
        Merge
      </h2>
      <ul class="inside plain-list">
        <Conditions {...props} />
      </ul>
      <Forms {...props} />
    </section>
  );
}

/** What is left to do with a closed pull request: its branch, and its revert. */
function Closed({ page, state: { pull, isHeadDeletable, revertNumber }, sending }: MergeBoxProps) {
  const { repo, headRepo, headTip } = pull;
  const { mergedAt, headBranch, flow } = pull.pull;
  const isMerged = mergedAt !== null;
  const ownsHead = flow === "branch" && headRepo !== undefined && mayWriteTo(page, headRepo);
  const mayDelete = ownsHead && isHeadDeletable;
  const mayRestore = ownsHead && headTip === undefined;
  const mayRevert = isMerged && revertNumber === undefined && mayWriteTo(page, repo);
  if (!isMerged && !mayRestore) return <></>;
  return (
    <section class="box" aria-labelledby="merge">
      <h2 class="box-head" id="merge">
        {isMerged ? "Merged" : "Closed"}
      </h2>
      <div class="inside">
        {isMerged ? <MergedBy pull={pull} /> : undefined}
        {revertNumber === undefined ? undefined : (
          <p>
            {"It is reverted by "}
            <a href={`${repositoryPath(repo)}/pulls/${revertNumber}`}>{`#${revertNumber}`}</a>.
          </p>
        )}
        <div class="row">
          {mayDelete ? (
            <ActionForm {...sending} action="delete-branch" class="inline">
              <button type="submit">{`Delete branch ${headBranch}`}</button>
            </ActionForm>
          ) : undefined}
          {mayRestore ? (
            <ActionForm {...sending} action="restore-branch" class="inline">
              <button type="submit">{`Restore branch ${headBranch}`}</button>
            </ActionForm>
          ) : undefined}
          {mayRevert ? (
            <ActionForm {...sending} action="revert" class="inline">
              <button type="submit">Revert on a new branch</button>
            </ActionForm>
          ) : undefined}
        </div>
      </div>
    </section>
  );
}

function MergedBy({ pull: { merger, repo, pull } }: { pull: PullContext }) {
  return (
    <p>
      {merger ? <a href={accountPath(merger)}>{merger.name}</a> : "Ghost"}
      {" merged it as "}
      <a class="oid" href={commitPath(repo, pull.mergeCommitOid)}>
        {pull.mergeCommitOid.slice(0, 10)}
      </a>
      .
    </p>
  );
}

/** Whether the reader may push to a repository now, but for its rules. */
const mayWriteTo = ({ ctx }: EnteredRepository, repo: RepositoryContext): boolean =>
  ctx.actor.user !== undefined &&
  repo.row.archivedAt === null &&
  !repo.row.isMirror &&
  isAllowed(repo, { unit: "code", mode: "write" });

function Condition({ isMet, children }: PropsWithChildren<{ isMet: boolean | undefined }>) {
  return (
    <li>
      <StatusIcon state={isMet === undefined ? "pending" : isMet ? "success" : "failure"} />
      {children}
    </li>
  );
}

/** What the check of head and base found, in words. */
const MERGEABILITY: Readonly<Record<Mergeability, readonly [isMet: boolean | undefined, string]>> =
  {
    checking: [undefined, "Whether it can be merged is being checked. Reload the page."],
    error: [undefined, "Whether it can be merged could not be checked."],
    mergeable: [true, "It can be merged without conflicts."],
    empty: [true, "It changes no file."],
    ancestor: [undefined, "The base has everything of it already."],
    conflict: [false, "It has conflicts with the base."],
  };

function Conditions({ page, state, sending }: MergeBoxProps) {
  const { pull, unmet, approvalsMissing, isBlocked, queued, isScheduled } = state;
  const { row } = pull;
  const own = pull.pull;
  const isCurrent = isMergeabilityCurrent(pull);
  const [isMet, words] = MERGEABILITY[isCurrent ? own.mergeState : "checking"];
  const conflicts = isCurrent && own.mergeState === "conflict" ? own.conflictPaths : [];
  return (
    <>
      {isDraftTitle(row.title) ? (
        <Condition isMet={false}>
          {"It is a draft. "}
          {mayChange(page, pull) ? (
            <ActionForm {...sending} action="title" class="inline">
              <input type="hidden" name="title" value={withoutDraft(row.title)} />
              <input type="hidden" name={FORMER_TITLE} value={row.title} />
              <button type="submit" class="plain">
                Ready for review
              </button>
            </ActionForm>
          ) : undefined}
        </Condition>
      ) : undefined}
      <Condition isMet={isMet}>
        {words}
        {conflicts.length === 0 ? undefined : (
          <Conflicts page={page} pull={pull} paths={conflicts} />
        )}
      </Condition>
      <Checks state={state} />
      {unmet.map((condition) => (
        <Condition isMet={false}>
          {condition === TOO_FEW_APPROVALS
            ? `It needs ${approvalsMissing} more approval${approvalsMissing === 1 ? "" : "s"}.`
            : `${condition}.`}
        </Condition>
      ))}
      {isBlocked ? (
        <Condition isMet={false}>It waits for others, which are still open.</Condition>
      ) : undefined}
      {isScheduled ? (
        <Condition isMet={undefined}>It is merged as soon as nothing is missing.</Condition>
      ) : undefined}
      {queued ? (
        <Condition isMet={undefined}>
          <Place pull={pull} queued={queued} />
        </Condition>
      ) : undefined}
      {own.behindCount > 0 ? (
        <Condition isMet={undefined}>
          {`It is ${own.behindCount} commit${own.behindCount === 1 ? "" : "s"} behind ${own.baseBranch}.`}
          <Update page={page} state={state} sending={sending} />
        </Condition>
      ) : undefined}
    </>
  );
}

/** The latest status of each check, with those that a rule waits for. */
function Checks({ state: { statuses, required } }: Pick<MergeBoxProps, "state">) {
  const shown = statuses.toSorted((a, b) => RANKS[a.state] - RANKS[b.state]).slice(0, CHECKS_MAX);
  return (
    <>
      {shown.map((check) => (
        <li>
          <StatusIcon state={check.state} />
          <CheckName check={check} /> {`${check.state} `}
          {required.contexts.has(check.context) ? <span class="label">Required</span> : undefined}
        </li>
      ))}
      {statuses.length > shown.length ? (
        <li>
          <span class="soft">{`${statuses.length - shown.length} more are not listed.`}</span>
        </li>
      ) : undefined}
      {required.missing.map((pattern) => (
        <Condition isMet={undefined}>
          <strong>{pattern}</strong> <span class="soft">has not been reported yet</span>{" "}
          <span class="label">Required</span>
        </Condition>
      ))}
    </>
  );
}

/** Checks that the page lists. */
const CHECKS_MAX = 100;

/** The order of checks by their states: what needs attention comes first. */
const RANKS: Readonly<Record<CommitState, number>> = {
  error: 0,
  failure: 0,
  pending: 1,
  warning: 2,
  success: 3,
  skipped: 4,
};

interface PlaceProps {
  pull: PullContext;
  queued: MergeQueueEntryContext;
}

/** The place of a pull request in its merge queue, and what it waits for. */
function Place({ pull: { repo, pull }, queued: { entry, queue, doer, position } }: PlaceProps) {
  return (
    <>
      {`It is number ${position} in the merge queue of ${pull.baseBranch}, queued by `}
      <a href={accountPath(doer)}>{doer.name}</a>
      {". "}
      {entry.isInBatch ? BATCH_STATES[queue.state] : waitingFor(position)}
      {entry.isInBatch && queue.state === "testing" ? (
        <>
          {" "}
          <a class="oid" href={commitPath(repo, queue.resultOid)}>
            {queue.resultOid.slice(0, 10)}
          </a>
          .
        </>
      ) : undefined}
    </>
  );
}

const waitingFor = (position: number): string => {
  const before = position - 1;
  if (before === 0) return "It is next.";
  return before === 1 ? "One other is before it." : `${before} others are before it.`;
};

/** What the batch of a merge queue waits for. */
const BATCH_STATES: Readonly<Record<MergeQueueState, string>> = {
  idle: "It is next.",
  building: "Its result is being built.",
  testing: "It waits for the checks of its result,",
  landing: "It is being merged.",
  ending: "Its batch has failed, and is tried again in parts.",
};

/** A title without the words that make it a draft. */
const withoutDraft = (title: string): string => title.replace(/^(?:wip:|\[wip\])\s*/i, "");

interface ConflictsProps {
  page: EnteredRepository;
  pull: PullContext;
  paths: readonly string[];
}

/**
 * The files with conflicts, and the commands that resolve them in a clone of the head's repository,
 * which need not know the base's.
 */
function Conflicts({ page, pull, paths }: ConflictsProps) {
  const { headBranch, baseBranch, flow } = pull.pull;
  const url = `${htmlUrlOf(pull.repo, page.ctx)}.git`;
  const [start, end] =
    flow === "branch"
      ? [
          [`git fetch origin`, `git switch ${toShellWord(headBranch)}`],
          `git push origin ${toShellWord(headBranch)}`,
        ]
      : [
          [`# on the branch that the changes were pushed from`],
          `git push ${url} HEAD:${toShellWord(`refs/for/${baseBranch}/${headBranch}`)}`,
        ];
  return (
    <>
      <ul>
        {paths.map((path) => (
          <li>
            <code>{path}</code>
          </li>
        ))}
      </ul>
      <details>
        <summary>Commands that resolve them</summary>
        <pre class="secret">
          {[
            ...start,
            `git pull --no-rebase ${url} ${toShellWord(baseBranch)}`,
            `# resolve the conflicts, then`,
            `git commit --all`,
            end,
          ].join("\n")}
        </pre>
      </details>
    </>
  );
}

/** The forms that bring the head up to date, for those who may push to it. */
function Update({ page, state: { pull }, sending }: MergeBoxProps) {
  const { headRepo, repo } = pull;
  const mayUpdate =
    repo.row.archivedAt === null &&
    pull.pull.flow === "branch" &&
    headRepo !== undefined &&
    mayWriteTo(page, headRepo);
  if (!mayUpdate) return <></>;
  const ways: [string, string][] = [
    ["merge", "Update by merge"],
    ...(repo.row.pullSettings.allowRebaseUpdate
      ? [["rebase", "Update by rebase"] satisfies [string, string]]
      : []),
  ];
  return (
    <ActionForm {...sending} action="update" class="row">
      {ways.map(([style, label]) => (
        <button type="submit" name="style" value={style} class="small">
          {label}
        </button>
      ))}
    </ActionForm>
  );
}

/** Whether the reader may merge by a form now. */
export const hasMergeForm = (
  page: EnteredRepository,
  { pull, queued, isScheduled }: PullMergeState,
): boolean => !pull.row.isClosed && mayWriteTo(page, pull.repo) && !queued && !isScheduled;

function Forms({ page, state, sending, sent }: MergeBoxProps) {
  const { pull, styles, unmet, statuses, hasQueue, mayForce, queued, isScheduled } = state;
  const { repo, row } = pull;
  const { user } = page.ctx.actor;
  if (!mayWriteTo(page, repo)) {
    return <p class="inside soft">Those who may write to the repository can merge it.</p>;
  }
  if (queued) {
    const mayLeave = queued.doer.id === user?.id || isAllowed(repo, { mode: "admin" });
    return mayLeave ? (
      <ActionForm {...sending} action="dequeue" class="inside">
        <button type="submit">Take out of the queue</button>
      </ActionForm>
    ) : (
      <p class="inside soft">
        {`${queued.doer.name} and administrators of the repository can take it out of the queue.`}
      </p>
    );
  }
  if (isScheduled) {
    return (
      <ActionForm {...sending} action="cancel-merge" class="inside">
        <button type="submit">Cancel the merge</button>
      </ActionForm>
    );
  }
  const isPending = unmet.length > 0 || statuses.some(({ state: each }) => each === "pending");
  const isReady = !isDraftTitle(row.title);
  const isMergeable = hasQueue || mayForce || unmet.length === 0 || !isReady;
  return (
    <ActionForm {...sending} action="merge" class="inside">
      <input type="hidden" name="head" value={pull.pull.headOid} />
      <Labelled label="Style" id="merge-style">
        <select id="merge-style" name="style">
          {styles.map((style) => (
            <option value={style} selected={style === sent?.text("style")}>
              {STYLE_NAMES[style]}
            </option>
          ))}
        </select>
      </Labelled>
      <details open={sent !== undefined}>
        <summary>Message of the commit</summary>
        <Labelled label="Title" id="merge-title">
          <input
            id="merge-title"
            name="title"
            type="text"
            maxlength={255}
            placeholder="The usual one"
            value={sent?.text("title")}
          />
        </Labelled>
        <Labelled label="Text" id="merge-message">
          <textarea id="merge-message" name="message" rows={4}>
            {`\n${sent?.text("message") ?? ""}`}
          </textarea>
        </Labelled>
      </details>
      <label class="check">
        <input
          type="checkbox"
          name="delete_branch"
          value="on"
          checked={repo.row.pullSettings.defaultDeleteBranchAfterMerge}
        />
        Delete the branch afterwards
      </label>
      {mayForce && (unmet.length > 0 || hasQueue) ? (
        <label class="check">
          <input type="checkbox" name="force" value="on" checked={sent?.isSet("force") ?? false} />
          {`As an administrator, merge at once ${
            unmet.length > 0 ? "although conditions are not met" : "past the merge queue"
          }`}
        </label>
      ) : undefined}
      <div class="row">
        {isMergeable ? (
          <button type="submit" class="primary" disabled={!isReady}>
            {hasQueue ? "Add to the merge queue" : "Merge"}
          </button>
        ) : undefined}
        {isPending && isReady && !hasQueue ? (
          <button
            type="submit"
            name="when"
            value="ready"
            class={isMergeable ? undefined : "primary"}
          >
            Merge when nothing is missing
          </button>
        ) : undefined}
      </div>
    </ActionForm>
  );
}

function Labelled({ label, id, children }: { label: string; id: string; children?: Child }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
    </div>
  );
}
