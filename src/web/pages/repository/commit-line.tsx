import type { User } from "../../../db/schema/index.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import type { CommitEntry } from "../../../shapes/git/commit.ts";
import { accountPath, commitPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Avatar } from "../avatar.tsx";
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

/** Shown in place of a message that is empty. */
export const NO_MESSAGE = "(no message)";

/** The first line of a commit's message. */
export const subjectOf = ({ commit }: CommitEntry): string =>
  decodeCommitText(commit, commit.message).trimStart().split("\n", 1)[0] || NO_MESSAGE;

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
          <a href={commitPath(repo, entry.commitOid)}>{subjectOf(entry)}</a>
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
          </a>{" "}
          <Ago at={entry.commit.committer.timeSeconds * 1000} now={ctx.now} />
        </span>
      ) : undefined}
      <a href={history.path}>{history.label}</a>
    </div>
  );
}
