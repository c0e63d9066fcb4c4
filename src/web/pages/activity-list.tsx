import { type ActivityEntry, findOperation } from "../../shapes/events/activity.ts";
import { activityUrlOf, describeActivity } from "../activity-words.ts";
import { accountPath, commitPath, repositoryPath } from "./addresses.ts";
import { Ago } from "./ago.tsx";
import { Avatar } from "./avatar.tsx";

interface ActivityListProps {
  entries: readonly ActivityEntry[];
  now: number;
  /** Said where there are none. */
  empty: string;
}

/** A feed: who did what, and the beginning of what they wrote. */
export function ActivityList({ entries, now, empty }: ActivityListProps) {
  if (entries.length === 0) return <p class="soft">{empty}</p>;
  return (
    <ol class="feed">
      {entries.map((entry) => (
        <Activity entry={entry} now={now} />
      ))}
    </ol>
  );
}

function Activity({ entry, now }: { entry: ActivityEntry; now: number }) {
  const { actor, repo, event } = entry;
  const { words, isWhole } = describeActivity(entry);
  return (
    <li>
      <Avatar account={actor} size={32} />
      <div class="grow">
        <a href={accountPath(actor)}>{actor.name}</a>{" "}
        <a href={activityUrlOf(entry, { rootUrl: "" })}>{words}</a>{" "}
        {isWhole ? undefined : (
          <a href={repositoryPath(repo)}>{`${repo.owner.name}/${repo.row.name}`}</a>
        )}{" "}
        <span class="soft">
          <Ago at={event.createdAt} now={now} />
        </span>
        <Excerpt entry={entry} />
      </div>
    </li>
  );
}

/** Commits of a push, and characters of a text, that a feed shows. */
const COMMITS_MAX = 3;
const CHARS_MAX = 200;

function Excerpt({ entry }: { entry: ActivityEntry }) {
  const { issue, comment, release, repo } = entry;
  const commits = findOperation(entry).update?.commits ?? [];
  if (commits.length > 0) {
    return (
      <ul class="soft">
        {commits.slice(0, COMMITS_MAX).map(({ oid, message }) => (
          <li>
            <a class="oid" href={commitPath(repo, oid)}>
              {oid.slice(0, 10)}
            </a>{" "}
            {message.split("\n", 1)[0]}
          </li>
        ))}
      </ul>
    );
  }
  const text = comment?.row.body ?? issue?.row.title ?? release?.title ?? "";
  if (text === "") return <></>;
  const start = text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX).toWellFormed()}…` : text;
  return <p class="soft">{start}</p>;
}
