import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { repositoryPath } from "./addresses.ts";
import { Ago } from "./ago.tsx";
import { Icon } from "./icon.tsx";

interface RepositoryListProps {
  repositories: readonly RepositoryContext[];
  now: number;
  /** Said where there are none. */
  empty: string;
}

/** Repositories with what tells them apart. */
export function RepositoryList({ repositories, now, empty }: RepositoryListProps) {
  if (repositories.length === 0) return <p class="soft">{empty}</p>;
  return (
    <ul class="box commits">
      {repositories.map((repo) => (
        <li>
          <RepositorySummary repo={repo} now={now} />
        </li>
      ))}
    </ul>
  );
}

/** What tells a repository apart, in a line of a list. */
export function RepositorySummary({ repo, now }: { repo: RepositoryContext; now: number }) {
  return (
    <>
      <div class="grow">
        <Icon name={repo.row.isPrivate ? "lock" : repo.row.isFork ? "fork" : "book"} />
        <a href={repositoryPath(repo)}>
          {`${repo.owner.name}/`}
          <strong>{repo.row.name}</strong>
        </a>{" "}
        {repo.row.isPrivate ? <span class="label">Private</span> : undefined}{" "}
        {repo.row.archivedAt === null ? undefined : <span class="label">Archived</span>}
        {repo.row.description === "" ? undefined : <div>{repo.row.description}</div>}
        <div class="soft">
          {repo.row.language === "" ? undefined : `${repo.row.language}, `}
          {"changed "}
          <Ago at={repo.row.updatedAt} now={now} />
        </div>
      </div>
      <span class="soft">
        <Icon name="star" />
        {repo.row.starCount}
      </span>
      <span class="soft">
        <Icon name="fork" />
        {repo.row.forkCount}
      </span>
    </>
  );
}
