import type { CommitState, CommitStatus, User } from "../../../db/schema/index.ts";
import { type CommitEntry, decodeCommitText } from "../../../shapes/git/commit.ts";
import type { StatusSummary } from "../../../shapes/git/commit-status.ts";
import { isWebAddress } from "../../../lib/web-address.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { accountPath, commitPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Avatar } from "../avatar.tsx";
import { CopyIcon } from "../copy-button.tsx";
import { Icon } from "../icon.tsx";
import type { EnteredRepository } from "./enter.ts";

/** The author of a commit: the account with its address, or the name that it has. */
export function CommitAuthor({ entry }: { entry: CommitEntry }) {
  const { author, commit } = entry;
  return <Person account={author} name={decodeCommitText(commit, commit.author.name)} />;
}

/** A person whom a commit names: an account, or else the name alone. */
export function Person({ account, name }: { account: User | undefined; name: string }) {
  if (!account) return <span class="author">{name}</span>;
  return (
    <a class="author" href={accountPath(account)}>
      <Avatar account={account} size={20} />
      {account.fullName || account.name}
    </a>
  );
}

interface CommitMarksProps {
  repo: RepositoryContext;
  entry: CommitEntry;
}

/** Whether a commit is signed by whom it names, and whether its checks passed. */
export function CommitMarks({ repo, entry }: CommitMarksProps) {
  const { status, commitOid } = entry;
  return (
    <>
      <Signature entry={entry} />
      {status ? (
        <a href={`${commitPath(repo, commitOid)}#statuses`} title={describeStatus(status)}>
          <StatusIcon state={status.state || "pending"} />
          <span class="hidden">{describeStatus(status)}</span>
        </a>
      ) : undefined}
    </>
  );
}

/** Whether a commit is signed by whom it names; nothing for one without a signature. */
export function Signature({ entry: { verification } }: { entry: CommitEntry }) {
  if (!verification?.split) return <></>;
  const { isVerified, reason } = verification;
  return (
    <span class={isVerified ? "label verified" : "label"} title={reason}>
      {isVerified ? "Verified" : "Unverified"}
    </span>
  );
}

/** How many checks of a commit passed, in words. */
const describeStatus = ({ passed, total }: StatusSummary): string =>
  `${passed} of ${total} check${total === 1 ? "" : "s"} passed`;

const STATUS_ICONS: Readonly<Record<CommitState, string>> = {
  error: "cross",
  failure: "cross",
  pending: "dot",
  warning: "check",
  skipped: "check",
  success: "check",
};

/** The picture of a check's state, beside words that say the same. */
export function StatusIcon({ state }: { state: CommitState }) {
  return (
    <span class={`status ${STATUS_ICONS[state]}`}>
      <Icon name={STATUS_ICONS[state]} />
    </span>
  );
}

interface CheckProps {
  check: Pick<CommitStatus, "context" | "description" | "targetUrl">;
}

/**
 * A check with the link to its results, and with what its reporter says about it.
 *
 * SECURITY: an address of another scheme could be a script.
 */
export function CheckName({ check: { context, description, targetUrl } }: CheckProps) {
  const name = context || targetUrl;
  return (
    <>
      {isWebAddress(targetUrl) ? (
        <a href={targetUrl} rel="nofollow noopener">
          {name}
        </a>
      ) : (
        <strong>{name}</strong>
      )}{" "}
      <span class="soft">{description}</span>
    </>
  );
}

/** Shown in place of a message that is empty. */
export const NO_MESSAGE = "(no message)";

/** Characters of a message that lists show; its commit's page shows all. */
const BODY_CHARS_MAX = 2000;

const messageOf = ({ commit }: CommitEntry): string =>
  decodeCommitText(commit, commit.message).trim();

/** The first line of a commit's message. */
export const subjectOf = (entry: CommitEntry): string =>
  messageOf(entry).split("\n", 1)[0] || NO_MESSAGE;

/** What a commit's message has below its first line, folded. */
export function MessageBody({ entry }: { entry: CommitEntry }) {
  const message = messageOf(entry);
  const body = message.slice(subjectOf(entry).length).trim();
  if (message === "" || body === "") return <></>;
  return (
    <details class="rest">
      <summary title="The rest of the message">
        <span aria-hidden="true">…</span>
        <span class="hidden">The rest of the message</span>
      </summary>
      <pre class="message">
        {body.length > BODY_CHARS_MAX ? `${body.slice(0, BODY_CHARS_MAX)}…` : body}
      </pre>
    </details>
  );
}

interface CommitLineProps {
  page: EnteredRepository;
  /** Undefined if the search for it has not ended. */
  entry: CommitEntry | undefined;
  /** The history of what is shown. */
  history: { path: string; label: string };
}

/** The last commit of what a page shows, and the way to its history. */
export function CommitLine({ page: { repo, ctx }, entry, history }: CommitLineProps) {
  return (
    <div class="box-head">
      {entry ? (
        <span class="grow commit-line">
          <CommitAuthor entry={entry} />{" "}
          <a href={commitPath(repo, entry.commitOid)}>{subjectOf(entry)}</a>{" "}
          <CommitMarks repo={repo} entry={entry} />
        </span>
      ) : (
        <span class="grow soft">
          The last commit is still being looked for: <a href="">look again</a>
        </span>
      )}
      {entry ? (
        <span class="soft">
          <a class="oid" href={commitPath(repo, entry.commitOid)}>
            {entry.commitOid.slice(0, 10)}
          </a>
          <CopyIcon text={entry.commitOid} subject="the id" />{" "}
          <Ago at={entry.commit.committer.timeSeconds * 1000} now={ctx.now} />
        </span>
      ) : undefined}
      <a href={history.path}>{history.label}</a>
    </div>
  );
}
