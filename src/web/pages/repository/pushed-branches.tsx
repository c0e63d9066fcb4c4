import type { PushedBranch } from "../../../domain/pulls/pull/find-pushed-branches.ts";
import { comparePath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Icon } from "../icon.tsx";
import type { EnteredRepository } from "./enter.ts";

interface PushedBranchesProps {
  page: EnteredRepository;
  pushed: readonly PushedBranch[];
}

/** What the reader has pushed lately, with the way to its pull request. */
export function PushedBranches({ page: { ctx, repo }, pushed }: PushedBranchesProps) {
  return (
    <>
      {pushed.map(({ branch, fork, pushedAt }) => {
        const name = fork ? `${fork.owner}/${fork.name}:${branch}` : branch;
        return (
          <p class="notice banner row">
            <span class="grow">
              <Icon name="branch" />
              {"You pushed "}
              <strong>{name}</strong> <Ago at={pushedAt} now={ctx.now} />
            </span>
            <a class="button small primary" href={comparePath(repo, repo.row.defaultBranch, name)}>
              Compare and propose<span class="hidden">{` ${name}`}</span>
            </a>
          </p>
        );
      })}
    </>
  );
}
