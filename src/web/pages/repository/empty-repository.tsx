import { isAllowed } from "../../../auth/access/permission.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import { CopyIcon } from "../copy-button.tsx";
import { editorPath } from "../editor-path.ts";
import { toShellWord } from "../shell-word.ts";
import type { EnteredRepository } from "./enter.ts";

/** What to do with a repository that has no commit on its default branch. */
export function EmptyRepository({ page: { ctx, repo } }: { page: EnteredRepository }) {
  const { defaultBranch } = repo.row;
  const url = `${htmlUrlOf(repo, ctx)}.git`;
  const mayWrite = isAllowed(repo, { unit: "code", mode: "write" });
  const branch = toShellWord(defaultBranch);
  const push = `git remote add origin ${url}\ngit push -u origin ${branch}`;
  const fresh = `git init -b ${branch}\ngit add .\ngit commit -m "First commit"\n${push}`;
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
      <p>
        {"Begin here: "}
        <a href={editorPath(repo, "_new", defaultBranch)}>write a file</a>
        {" or "}
        <a href={editorPath(repo, "_upload", defaultBranch)}>upload files</a>.
      </p>
      <p>
        {"Or begin with a folder of yours: "}
        <CopyIcon text={fresh} subject="the commands" />
      </p>
      <pre class="secret">{fresh}</pre>
      <p>
        {"Or push a repository that you have: "}
        <CopyIcon text={push} subject="the commands" />
      </p>
      <pre class="secret">{push}</pre>
      <p class="soft">
        git asks for your name and a password: an access token of{" "}
        <a href="/user/settings/tokens">your settings</a> is one.
      </p>
    </section>
  );
}
