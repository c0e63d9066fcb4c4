import { eq } from "drizzle-orm";

import {
  follows,
  gpgKeys,
  hooks,
  organizationMembers,
  publicKeys,
  repositories,
  repositoryTopics,
  stars,
  topics,
  watches,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { History } from "./commits.ts";
import { db } from "./db.ts";
import { freshName, make, type TestRepo, type TestUser } from "./make.ts";
import { makeKeptDelivery } from "./hooks.ts";
import { fillPath, type Operation } from "./operations.ts";
import { makeCommit, storePush } from "./push.ts";
import { makeTag } from "./tag.ts";

/** Everything that an operation of the API may be about, belonging to one user. */
export interface World {
  /** Who asks: the owner of all of it, or an administrator where the operation is for them. */
  caller: TestUser;
  /** The path of the operation, filled with what is there. */
  path: string;
  /** A body that the operation accepts, where it takes one. */
  json: object | undefined;
}

/** What operations need in their queries. */
const QUERIES: Readonly<Record<string, string>> = {
  repoGetFileContents: '?body={"files":["file"]}',
  repoGetEditorConfig: "?ref=settings",
};

/** Makes a world of its own for one request of `operation`. */
export async function makeWorld(operation: Operation): Promise<World> {
  const isForAdmin = operation.path.startsWith("/admin/");
  const user = await make.user();
  const caller = isForAdmin ? await make.admin() : user;
  const friend = await make.user();
  const repo = await make.repo(user);
  const org = await make.org([user]);
  const orgRepo = await make.repo(org);
  const team = await make.team(org);
  await make.member(org, team, friend);
  await make.member(org, team, user);
  const at = { userId: user.id, createdAt: 1000 };
  const marks = { ...at, repoId: repo.id, visibility: "public" as const };
  const key = {
    ...at,
    title: "laptop",
    content: "ssh-ed25519 AAAA",
    fingerprint: freshName("SHA256:"),
  };
  const addedAt = 1000;
  const isNothing = {
    canSign: true,
    canCertify: true,
    canEncryptComms: false,
    canEncryptStorage: false,
  };
  const keyId = freshName("K");
  const gpg = {
    ...at,
    ...isNothing,
    keyId,
    fingerprint: keyId,
    publicKey: "",
    emails: [],
    addedAt,
  };
  const hook = {
    approverId: caller.id,
    type: "gitea" as const,
    url: "https://receiver.example/hook",
    contentType: "json" as const,
    chat: {},
    events: ["push"],
    // Those of the service would hear of whatever other tests do, and their receiver is nowhere.
    isActive: false,
    // Somebody delivers to it, for ever: what is asked to be sent stays as it is.
    busyUntil: Number.MAX_SAFE_INTEGER,
    createdAt: 1000,
    updatedAt: 1000,
  };
  const [userKeys, deployKeys, ownGpgKeys, ownHooks] = await db.batch([
    db.insert(publicKeys).values(key).returning(),
    db
      .insert(publicKeys)
      .values({ ...key, repoId: repo.id })
      .returning(),
    db.insert(gpgKeys).values(gpg).returning(),
    db
      .insert(hooks)
      .values([
        { ...hook, level: "repository", repoId: repo.id },
        { ...hook, level: "organization", ownerId: org.id },
        { ...hook, level: "user", ownerId: user.id },
        { ...hook, level: "system" },
      ])
      .returning(),
    db.insert(stars).values(marks),
    db.insert(watches).values(marks),
    db.insert(follows).values({ followerId: user.id, followedId: friend.id, createdAt: 1000 }),
    db
      .update(organizationMembers)
      .set({ isPublic: true })
      .where(eq(organizationMembers.orgId, org.id)),
  ]);

  const topic = await giveTopic(repo);

  const hookAt = (level: string) => ownHooks.find((each) => each.level === level)?.id ?? 0;
  const ids: [RegExp, number][] = [
    [/^\/repositories\//, repo.id],
    [/^\/repos\/.*\/keys\//, only(deployKeys).id],
    [/^\/user\/keys\//, only(userKeys).id],
    [/^\/user\/gpg_keys\//, only(ownGpgKeys).id],
    [/^\/repos\/.*\/hooks\//, hookAt("repository")],
    [/^\/orgs\/.*\/hooks\//, hookAt("organization")],
    [/^\/user\/hooks\//, hookAt("user")],
    [/^\/admin\/hooks\//, hookAt("system")],
    [/^\/teams\//, team.id],
  ];
  const id = ids.find(([pattern]) => pattern.test(operation.path))?.[1] ?? 0;
  const delivery = operation.path.includes("/deliveries")
    ? await makeKeptDelivery({ id })
    : undefined;
  const isAboutCode =
    /\/(?:branches|tags|git|commits|compare|contents|contents-ext|file-contents|raw|media|diffpatch|statuses|archive|tarball|zipball|bundle|languages|licenses|editorconfig|issue_templates|issue_config|tests)(?:\/|$)/.test(
      operation.path,
    );
  const isNoteNew = operation.id === "repoCreateNote";
  const sample = isAboutCode ? await storeSampleCode(repo, !isNoteNew) : undefined;
  const isAboutFriend = /^\/user\/following\/|^\/teams\//.test(operation.path);
  if (operation.id === "orgTestHook") await storeSampleCode(orgRepo, true);
  const tested = { orgTestHook: orgRepo.name, userTestHook: repo.name }[operation.id];
  const ofSite = operation.id === "adminTestHook" ? `${user.name}/${repo.name}` : undefined;
  const query = tested || ofSite ? `?repo=${tested ?? ofSite}` : (QUERIES[operation.id] ?? "");
  const path = fillPath(operation.path, {
    owner: user.name,
    repo: repo.name,
    username: isAboutFriend ? friend.name : user.name,
    target: friend.name,
    branch: "some/branch",
    tag: "some/tag",
    sha: shaFor(operation.path, sample),
    filepath: operation.id === "repoCreateFile" ? "new/file" : "file",
    ref: operation.path.includes("/git/refs/") ? "heads/some" : "some/branch",
    archive: "some/branch.tar.gz",
    revision: "some/tag",
    basehead: "main...some/branch",
    diffType: "diff",
    org: org.name,
    token: "no-such-token",
    topic,
    name: operation.path.startsWith("/licenses/") ? "MIT" : "Go",
    id,
    delivery_id: delivery?.id ?? 0,
  });
  const json =
    operation.body && bodyOf(operation.id, `${user.name}/${repo.name}`, org.name, sample?.blobOid);
  return { caller, path: path + query, json };
}

/** Gives a repository a topic that no other has, and says its name. */
async function giveTopic(repo: TestRepo): Promise<string> {
  const name = freshName("topic");
  const at = { createdAt: 1000, updatedAt: 1000 };
  const { id: topicId } = only(
    await db
      .insert(topics)
      .values({ name, ...at })
      .returning(),
  );
  await db.batch([
    db.insert(repositoryTopics).values({ repoId: repo.id, topicId, visibility: "public" }),
    db
      .update(repositories)
      .set({ topics: [name] })
      .where(eq(repositories.id, repo.id)),
  ]);
  return name;
}

/** What a path that ends in an id is about. */
function shaFor(path: string, sample: { tagOid: string; blobOid: string } | undefined): string {
  if (path.includes("/git/tags/")) return sample?.tagOid ?? "";
  if (path.includes("/git/blobs/")) return sample?.blobOid ?? "";
  return "main";
}

/** Two branches of one commit of one file, a note on it, an annotated tag of it, and one of settings. */
async function storeSampleCode(repo: TestRepo, hasNote: boolean) {
  const { oid, blobOid, pack } = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", oid, pack);
  await storePush(repo, "refs/heads/some/branch", oid, pack);
  const history = new History();
  const note = history.commit({ files: { [oid]: "A note\n" } });
  if (hasNote) await storePush(repo, "refs/notes/commits", note, history.build());
  const settings = { ".editorconfig": "[*]\nindent_size = 2\n" };
  const withSettings = history.commit({ files: settings });
  await storePush(repo, "refs/heads/settings", withSettings, history.build());
  const tag = makeTag(oid, "some/tag");
  await storePush(repo, "refs/tags/some/tag", tag.oid, tag.pack, oid);
  return { tagOid: tag.oid, blobOid };
}

const NEW_FILE_PATCH =
  "diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n";

const NEW_HOOK = {
  type: "gitea",
  config: { url: "https://receiver.example/hook", content_type: "json" },
  events: ["push"],
  branch_filter: "main",
};

const SINCE_LONG = { since: "2020-01-31T08:15:00+02:00" };

/** A body that each operation accepts, with names that nobody else has; keys are another test's. */
function bodyOf(
  operationId: string,
  repository: string,
  organization: string,
  sha: string | undefined,
): object {
  const name = freshName("made");
  const email = `${name}@example.com`;
  const bodies: Record<string, object> = {
    renderMarkdown: { Text: "*a* @ada #1" },
    renderMarkup: { Text: "*a* @ada", Mode: "comment", Context: repository },
    createCurrentUserRepo: { name, auto_init: true, license: "MIT", gitignores: "Go" },
    repoEdit: { name, description: "b", private: true },
    repoCreateKey: { title: name, key: "ssh-ed25519 AAAA" },
    updateUserSettings: { full_name: name, hide_email: true },
    userAddEmail: { emails: [email] },
    userDeleteEmail: { emails: [email] },
    userCurrentPostKey: { title: name, key: "ssh-ed25519 AAAA" },
    userCurrentPostGPGKey: { armored_public_key: "x" },
    userVerifyGPGKey: { key_id: "0123456789ABCDEF", armored_signature: "x" },
    userCreateToken: { name, scopes: ["all"], repositories: [repository] },
    orgCreate: { username: name, visibility: "public" },
    createOrgRepoDeprecated: { name },
    createOrgRepo: { name },
    repoCreateBranch: { new_branch_name: name, old_ref_name: "some/branch" },
    repoRenameBranch: { name },
    repoGetFileContentsPost: { files: ["file", "none"] },
    repoUpdateTopics: { topics: [name.toLowerCase()] },
    repoCreateStatus: { state: "pending", context: "build", target_url: "https://ci.example/1" },
    repoUpdateBranch: { new_commit_id: "main" },
    repoCreateTag: { tag_name: name, message: "a word", target: "some/branch" },
    repoCreateFile: { content: "YQ==", new_branch: name },
    repoUpdateFile: { content: "YQ==", sha },
    repoDeleteFile: { sha },
    repoChangeFiles: { files: [{ operation: "upload", path: "file", content: "YQ==" }] },
    repoCreateNote: { message: "a word" },
    repoEditNote: { message: "a word" },
    repoApplyDiffPatch: { content: NEW_FILE_PATCH },
    createFork: { name, organization },
    repoCreateHook: NEW_HOOK,
    repoEditHook: { branch_filter: "main" },
    orgCreateHook: NEW_HOOK,
    orgEditHook: { branch_filter: "main" },
    userCreateHook: NEW_HOOK,
    userEditHook: { branch_filter: "main" },
    adminCreateHook: { ...NEW_HOOK, config: { ...NEW_HOOK.config, is_system_webhook: "true" } },
    adminEditHook: { branch_filter: "main" },
    repoRedeliverFailedHookDeliveries: SINCE_LONG,
    orgRedeliverFailedHookDeliveries: SINCE_LONG,
    userRedeliverFailedHookDeliveries: SINCE_LONG,
    adminRedeliverFailedHookDeliveries: SINCE_LONG,
    adminCreateUser: { username: name, email, password: "correct horse" },
    adminEditUser: { full_name: name, email },
    adminRenameUser: { new_username: name },
  };
  const body = bodies[operationId];
  if (!body) throw new Error(`no body for ${operationId}`);
  return body;
}
