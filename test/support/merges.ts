import { History } from "./commits.ts";
import { make, type TestRepo, type TestUser } from "./make.ts";
import { makePull, type TestPull } from "./pulls.ts";
import { storeRefs } from "./push.ts";
import { call } from "./call.ts";

type Files = Readonly<Record<string, string>>;

/** The commits of a pull request to make. */
export interface MadeEnds {
  /** By default one file. */
  readonly root?: Files;
  /** The files after each commit of the head; by default one commit that adds a file. */
  readonly head?: readonly Files[];
  /** The same for the base; by default none. */
  readonly base?: readonly Files[];
  readonly author?: string;
  /** When the commits were written. */
  readonly authorSeconds?: number;
  /** By default a new user. */
  readonly owner?: TestUser;
}

/** A pull request whose commits are stored. */
export interface ReadyPull {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly pull: TestPull;
  readonly rootOid: string;
  readonly baseOid: string;
  readonly headOid: string;
  /** The path of the pull request in the API. */
  readonly path: string;
}

const ROOT: Files = { a: "1\n2\n3\n4\n5\n6\n7\n8\n9\n" };

/** Makes an open, judged pull request of `topic` into `main`, past the API. */
export async function makeReadyPull(
  { root = ROOT, head, base = [], author, authorSeconds, ...made }: MadeEnds = {},
  fields: Partial<TestPull> = {},
): Promise<ReadyPull> {
  const owner = made.owner ?? (await make.user());
  const repo = await make.repo(owner);
  const history = new History();
  const rootOid = history.commit({ files: root, message: "Root\n" });
  const commits = (name: string, all: readonly Files[]): string => {
    let parent = rootOid;
    for (const [at, files] of all.entries()) {
      const message = `${name} ${at + 1}\n`;
      parent = history.commit({
        files,
        parents: [parent],
        message,
        ...(author && { author }),
        ...(authorSeconds !== undefined && { authorSeconds }),
      });
    }
    return parent;
  };
  const headOid = commits("Head", head ?? [{ ...root, topic: "A topic\n" }]);
  const baseOid = commits("Base", base);
  const pull = await makePull(
    repo,
    { headOid, checkedBaseOid: baseOid, mergeBaseOid: rootOid, changedFiles: 1 },
    { title: "A topic", ...fields },
  );
  const refs = [
    { ref: "refs/heads/main", oid: baseOid },
    { ref: "refs/heads/topic", oid: headOid },
    { ref: `refs/pull/${pull.number}/head`, oid: headOid },
  ];
  await storeRefs(repo, refs, history.build());
  const path = `/repos/${repo.owner}/${repo.name}/pulls/${pull.number}`;
  return { owner, repo, pull, rootOid, baseOid, headOid, path };
}

/** The latest commits of a branch, with what a merge decides. */
export async function listHistory(
  { owner, repo }: Pick<ReadyPull, "owner" | "repo">,
  sha = "main",
) {
  const path = `/repos/${repo.owner}/${repo.name}/commits?sha=${sha}&stat=false`;
  const { body } = await call("GET", path, { as: owner });
  return (body as ListedCommit[]).map(({ sha: oid, parents, commit }) => ({
    oid,
    parents: parents.map((each) => each.sha),
    message: commit.message,
    author: commit.author.name,
    committer: commit.committer.name,
    tree: commit.tree.sha,
  }));
}

interface ListedCommit {
  readonly sha: string;
  readonly parents: readonly { readonly sha: string }[];
  readonly commit: {
    readonly message: string;
    readonly author: { readonly name: string };
    readonly committer: { readonly name: string };
    readonly tree: { readonly sha: string };
  };
}
