import { join } from "node:path";

import type { Forge as GitServer } from "../git/forge.ts";
import { git } from "../git/git.ts";

/** A repository of git's own server, which a mirror follows. */
export type Upstream = {
  url: string;
  /** Adds a commit to its branch `main`. @returns Its id. */
  commit: () => Promise<string>;
};

/** @param root The directory of the server's repositories. */
export async function openUpstream(
  server: GitServer,
  root: string,
  name: string,
): Promise<Upstream> {
  const url = await server.create(name, "main");
  const directory = join(root, `${name}.git`);
  const tree = await git(directory, ["hash-object", "-t", "tree", "-w", "--stdin"]);
  let [count, tip] = [0, ""];
  const commit = async (): Promise<string> => {
    count++;
    const parents = tip === "" ? [] : ["-p", tip];
    tip = await git(directory, ["commit-tree", tree, ...parents, "-m", `commit ${count}`]);
    await git(directory, ["update-ref", "refs/heads/main", tip]);
    return tip;
  };
  await commit();
  return { url, commit };
}
