import type { Child, PropsWithChildren } from "hono/jsx";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Mergeability, MergeStyle } from "../../../db/schema/index.ts";
import type { PullMergeState } from "../../../domain/pulls/merge/read-merge-state.ts";
import type { Form } from "../form.ts";
import { isDraftTitle } from "../../../shapes/issues/issue.ts";
import { isMergeabilityCurrent, type PullContext } from "../../../shapes/pulls/pull-request.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import { accountPath, commitPath } from "../addresses.ts";
import { ActionForm, type Sending } from "./action-form.tsx";
import { mayChange } from "./issue-head.tsx";
import type { EnteredRepository } from "../repository/enter.ts";
import { StatusIcon } from "../repository/commit-line.tsx";
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

function Closed({ page, state: { pull }, sending }: MergeBoxProps) {
  const { merger, headRepo } = pull;
  const { mergedAt, mergeCommitOid, headBranch, flow } = pull.pull;
  if (mergedAt === null) return <></>;
  const mayDelete =
    page.ctx.actor.user !== undefined &&
    flow === "branch" &&
    pull.headTip !== undefined &&
    headRepo !== undefined &&
    isAllowed(headRepo, { unit: "code", mode: "write" });
  return (
    <section class="box" aria-labelledby="merge">
      <h2 class="box-head" id="merge">
        Merged
      </h2>
      <div class="inside">
        <p>
          {merger ? <a href={accountPath(merger)}>{merger.name}</a> : "Ghost"}
          {" merged it as "}
          <a class="oid" href={commitPath(pull.repo, mergeCommitOid)}>
            {mergeCommitOid.slice(0, 10)}
          </a>
          .
        </p>
        {mayDelete ? (
          <ActionForm {...sending} action="delete-branch">
            <button type="submit">{`Delete branch ${headBranch}`}</button>
          </ActionForm>
        ) : undefined}
      </div>
    </section>
  );
}

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
  const { pull, statuses, unmet, isBlocked, isQueued, isScheduled } = state;
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
      {statuses.map(({ context, state: each }) => (
        <li>
          <StatusIcon state={each} />
          {`${context}: ${each}`}
        </li>
      ))}
      {unmet.map((condition) => (
        <Condition isMet={false}>{`${condition}.`}</Condition>
      ))}
      {isBlocked ? (
        <Condition isMet={false}>It waits for others, which are still open.</Condition>
      ) : undefined}
      {isScheduled ? (
        <Condition isMet={undefined}>It is merged as soon as nothing is missing.</Condition>
      ) : undefined}
      {isQueued ? <Condition isMet={undefined}>It is in the merge queue.</Condition> : undefined}
      {own.behindCount > 0 ? (
        <Condition isMet={undefined}>
          {`It is ${own.behindCount} commit${own.behindCount === 1 ? "" : "s"} behind ${own.baseBranch}.`}
          <Update page={page} state={state} sending={sending} />
        </Condition>
      ) : undefined}
    </>
  );
}

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
    page.ctx.actor.user !== undefined &&
    repo.row.archivedAt === null &&
    pull.pull.flow === "branch" &&
    headRepo !== undefined &&
    isAllowed(headRepo, { unit: "code", mode: "write" });
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

function Forms({ page, state, sending, sent }: MergeBoxProps) {
  const { pull, styles, unmet, statuses, hasQueue, isQueued, isScheduled } = state;
  const { repo, row } = pull;
  const mayMerge =
    page.ctx.actor.user !== undefined &&
    repo.row.archivedAt === null &&
    isAllowed(repo, { unit: "code", mode: "write" });
  if (!mayMerge) {
    return <p class="inside soft">Those who may write to the repository can merge it.</p>;
  }
  if (isScheduled || isQueued) {
    return (
      <ActionForm {...sending} action={isQueued ? "dequeue" : "cancel-merge"} class="inside">
        <button type="submit">{isQueued ? "Take out of the queue" : "Cancel the merge"}</button>
      </ActionForm>
    );
  }
  const isPending = unmet.length > 0 || statuses.some(({ state: each }) => each === "pending");
  const isReady = !isDraftTitle(row.title);
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
      {unmet.length > 0 && isAllowed(repo, { mode: "admin" }) ? (
        <label class="check">
          <input type="checkbox" name="force" value="on" />
          Merge although conditions are not met
        </label>
      ) : undefined}
      <div class="row">
        <button type="submit" class="primary" disabled={!isReady}>
          {hasQueue ? "Add to the merge queue" : "Merge"}
        </button>
        {isPending && !hasQueue ? (
          <button type="submit" name="when" value="ready">
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
