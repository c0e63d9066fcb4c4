import { type Answer, type Sending, uncounted, visit } from "../call.ts";
import { askBatch, askLfs, makeLargeFile, type TestFile, upload } from "../large-files.ts";
import { make, type TestRepo, type TestUser } from "../make.ts";
import { makeCommit, pushCommands, storePush } from "../push.ts";
import { door } from "./door.ts";

/** A repository with a commit, and with a large file that is locked. */
export interface GitPlace {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly oid: string;
  readonly file: TestFile;
}

export async function makeGitPlace(): Promise<GitPlace> {
  const owner = await make.userWithPassword();
  const repo = await make.repo(owner);
  const { oid, pack } = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", oid, pack);
  const file = makeLargeFile(repo.name);
  await upload(owner, repo, file);
  await askLfs("POST", repo, "locks", { as: owner, json: { path: "a.bin" } });
  return { owner, repo, oid, file };
}

const pkt = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;

const advertise = (service: string) => (place: GitPlace, sending: Sending) =>
  visit("GET", `/${place.repo.owner}/${place.repo.name}.git/info/refs?service=${service}`, {
    ...sending,
    headers: { ...sending.headers, "Git-Protocol": "version=2" },
  });

/** Sends a command of protocol version 2. */
const command =
  (name: string, argsOf: (place: GitPlace) => readonly string[]) =>
  (place: GitPlace, sending: Sending): Promise<Answer> =>
    visit("POST", `/${place.repo.owner}/${place.repo.name}.git/git-upload-pack`, {
      ...sending,
      headers: {
        ...sending.headers,
        "Content-Type": "application/x-git-upload-pack-request",
        "Git-Protocol": "version=2",
      },
      body: `${pkt(`command=${name}\n`)}0001${argsOf(place).map(pkt).join("")}0000`,
    });

const locks = (rest: string) => (place: GitPlace, sending: Sending) =>
  askLfs("GET", place.repo, `locks${rest}`, sending);

/** What git and its clients for large files send, but for what they write. */
export const GIT_READS: Readonly<
  Record<string, (place: GitPlace, sending: Sending) => Promise<Answer>>
> = {
  "the advertisement of a fetch": advertise("git-upload-pack"),
  "the advertisement of a push": advertise("git-receive-pack"),
  "ls-refs": command("ls-refs", () => []),
  "a clone": command("fetch", ({ oid }) => [`want ${oid}\n`, "done\n"]),
  "a fetch of nothing new": command("fetch", ({ oid }) => [`want ${oid}\n`, `have ${oid}\n`]),
  "object-info": command("object-info", ({ oid }) => ["size\n", `oid ${oid}\n`]),
  "a batch of downloads": ({ repo, file: { oid, size } }, sending) =>
    askBatch(repo, "download", [{ oid, size }], sending),
  "a batch of uploads": ({ repo, file: { oid, size } }, sending) =>
    askBatch(repo, "upload", [{ oid, size }], sending),
  "a download": ({ repo, file }, sending) =>
    askLfs("GET", repo, `objects/${file.oid}`, { ...sending, headers: sending.headers ?? {} }),
  "the verification of an upload": ({ repo, file: { oid, size } }, sending) =>
    askLfs("POST", repo, "verify", { ...sending, json: { oid, size } }),
  "the locks": locks(""),
  "a lock by its path": locks("?path=a.bin"),
  "the locks before a push": ({ repo }, sending) =>
    askLfs("POST", repo, "locks/verify", { ...sending, json: {} }),
};

/** A push of a new commit, which creates a branch. */
const pushBranch = ({ owner, repo }: GitPlace, turn: number): Promise<Answer> => {
  const { oid, pack } = makeCommit(`${repo.name} ${turn}`);
  return pushCommands(owner, repo, [{ ref: `refs/heads/new-${turn}`, new: oid }], { pack });
};

/** Requests of git and of its clients for large files, by the owner. */
export const GIT = door<GitPlace>({
  open: makeGitPlace,
  requests: {
    ...Object.fromEntries(
      Object.entries(GIT_READS).map(([title, read]) => [
        title,
        (place: GitPlace) => read(place, { token: place.owner.token }),
      ]),
    ),
    "the advertisement of protocol version 0": ({ owner, repo }) =>
      visit("GET", `/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`, {
        as: owner,
      }),
    "a push of a branch": pushBranch,
    "a push of a commit onto a branch": async ({ owner, repo }, turn) => {
      const [first, second] = [
        makeCommit(`${repo.name} a${turn}`),
        makeCommit(`${repo.name} b${turn}`),
      ];
      await storePush(repo, `refs/heads/old-${turn}`, first.oid, first.pack);
      const update = { ref: `refs/heads/old-${turn}`, old: first.oid, new: second.oid };
      return pushCommands(owner, repo, [update], { pack: second.pack });
    },
    "a push that deletes a branch": async ({ owner, repo }, turn) => {
      const { oid, pack } = makeCommit(`${repo.name} c${turn}`);
      await storePush(repo, `refs/heads/gone-${turn}`, oid, pack);
      return pushCommands(owner, repo, [{ ref: `refs/heads/gone-${turn}`, old: oid }]);
    },
    "an upload of a large file": ({ owner, repo }, turn) =>
      upload(owner, repo, makeLargeFile(`${repo.name} ${turn}`)),
    "a new lock": ({ owner, repo }, turn) =>
      askLfs("POST", repo, "locks", { as: owner, json: { path: `new-${turn}.bin` } }),
    "the end of a lock": async ({ owner, repo }, turn) => {
      const json = { path: `old-${turn}.bin` };
      const { body } = await uncounted(() => askLfs("POST", repo, "locks", { as: owner, json }));
      return askLfs("POST", repo, `locks/${body.lock.id}/unlock`, { as: owner, json: {} });
    },
  },
});
