import { isAllowed } from "../../../auth/access/permission.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import type { EnteredRepository } from "./enter.ts";

/** What to do with a repository that has no commit on its default branch. */
export function EmptyRepository({ page: { ctx, repo } }: { page: EnteredRepository }) {
  const { defaultBranch } = repo.row;
  const url = `${htmlUrlOf(repo, ctx)}.git`;
  const mayWrite = isAllowed(repo, { unit: "code", mode: "write" });
  if (!mayWrite) {
    return (
      <section class="card">
        <h2>This repository is empty</h2>
        <p>{`The branch ${defaultBranch} has no commits yet.`}</p>
      </section>
    );
  }
  return (
    <section class="card">
      <h2>This repository is empty</h2>
      <p>Begin with a folder of yours:</p>
      <pre class="secret">
        {`git init -b ${defaultBranch}
git add .
git commit -m "First commit"
git remote add origin ${url}
git push -u origin ${defaultBranch}`}
      </pre>
      <p>Or push a repository that you have:</p>
      <pre class="secret">
        {`git remote add origin ${url}
git push -u origin ${defaultBranch}`}
      </pre>
      <p class="soft">
        git asks for your name and a password: an access token of{" "}
        <a href="/user/settings/tokens">your settings</a> is one.
      </p>
    </section>
  );
}
