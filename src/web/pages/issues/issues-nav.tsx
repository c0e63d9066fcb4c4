import { isKindListed } from "../../../domain/issues/lists/list-issues.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { repositoryPath } from "../addresses.ts";

const PAGES = { labels: "Labels", milestones: "Milestones" } as const;

interface IssuesNavProps {
  repo: RepositoryContext;
  /** The page that is shown, if it is one of them. */
  current?: keyof typeof PAGES;
}

/** The links to the labels and milestones of a repository. */
export function IssuesNav({ repo, current }: IssuesNavProps) {
  return (
    <nav class="choice" aria-label="Labels and milestones">
      {Object.entries(PAGES).map(([name, title]) => (
        <a
          href={`${repositoryPath(repo)}/${name}`}
          aria-current={name === current ? "page" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** The tab of the pages that issues and pull requests share. */
export const sharedTab = (repo: RepositoryContext): "issues" | "pulls" =>
  isKindListed(repo, { isPull: false }) ? "issues" : "pulls";
