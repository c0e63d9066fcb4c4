import { asc, eq } from "drizzle-orm";

import {
  accessTokens,
  blocks,
  emailAddresses,
  follows,
  gpgKeys,
  issues,
  organizationMembers,
  publicKeys,
  repositories,
  repositoryTopics,
  repositoryTransfers,
  stars,
  teamRepositories,
  topics,
  users,
  watches,
  workflows,
  type Hook,
  type Issue,
  type Repository,
  type User,
} from "../../../src/db/schema/index.ts";
import { only } from "../../../src/lib/only.ts";
import { makeJob, makeRun } from "../actions.ts";
import { makeArtifact } from "../artifacts.ts";
import { db } from "../db.ts";
import { makeHook, makeKeptDelivery } from "../hooks.ts";
import { freshName, make, type TestUser } from "../make.ts";
import { makePullMirror, makePushMirror } from "../mirror-rows.ts";
import { makeNotification } from "../notifications.ts";
import {
  attachLabel,
  makeComment,
  makeIssue,
  makeLabel,
  makeMilestone,
  makeStopwatch,
  makeTime,
} from "../issues.ts";
import { makeCleanupRule, makePackage } from "../packages.ts";
import { makePull } from "../pulls.ts";
import { makeApplication } from "../oauth.ts";
import { makeRule, makeRuleset, makeTagRule } from "../protections.ts";
import { makeAsset, makeRelease } from "../releases.ts";
import { storeWiki } from "../wikis.ts";
import {
  makeSampleTopic,
  storeSampleCode,
  SAMPLE_WORKFLOW_PATH,
  storeSampleNote,
  storeSampleWorkflow,
  storeSampleUpstream,
} from "./sample-code.ts";

/** The hash of an image that is not stored. */
const AVATAR_HASH = "a1".repeat(32);

/** Columns that a test sets on the rows of a world, by part. */
export interface WorldFields {
  /** An account that owns everything, in place of a new one. */
  owner?: TestUser;
  user?: Partial<User>;
  friend?: Partial<User>;
  repo?: Partial<Repository>;
  org?: Partial<User>;
  team?: { name?: string };
  topic?: string;
  /** Content of the file and message of the commit; the name of the repository, if missing. */
  text?: string;
}

/**
 * The data that a request of any operation may need, owned by one user.
 *
 * Each part is created at its first use, and only once: a world of its own costs a test
 * no more than its request needs, and a world that many requests share grows part by part.
 */
export class World {
  private readonly fields: WorldFields;

  constructor(fields: WorldFields = {}) {
    this.fields = fields;
  }

  /** The owner of everything. */
  readonly user = makeOnce(async () => this.fields.owner ?? (await make.user(this.fields.user)));
  readonly admin = makeOnce(() => make.admin());
  /** A member of the organization, through a team that reads all of its repositories. */
  readonly friend = makeOnce(() => make.user(this.fields.friend));
  readonly repo = makeOnce(async () => make.repo(await this.user(), this.fields.repo));
  readonly org = makeOnce(async () => make.org([await this.user()], this.fields.org));
  readonly orgRepo = makeOnce(async () => make.repo(await this.org()));
  /** A team with the user. */
  readonly team = makeOnce(async () => {
    const [org, user] = [await this.org(), await this.user()];
    const team = await make.team(org, this.fields.team);
    await make.member(org, team, user);
    return team;
  });
  /** A team with the user that reaches no repository. */
  readonly emptyTeam = makeOnce(async () => {
    const [org, user] = [await this.org(), await this.user()];
    const team = await make.team(org, { all: false });
    await make.member(org, team, user);
    return team;
  });
  /** Gives the repository of the organization to that team. */
  readonly repoInTeam = makeOnce(async () => {
    const [team, repo] = [await this.emptyTeam(), await this.orgRepo()];
    await db.insert(teamRepositories).values({ teamId: team.id, repoId: repo.id });
  });
  readonly friendInTeam = makeOnce(async () => {
    await make.member(await this.org(), await this.team(), await this.friend());
  });
  readonly publicMembership = makeOnce(async () => {
    const { id } = await this.org();
    await db
      .update(organizationMembers)
      .set({ isPublic: true })
      .where(eq(organizationMembers.orgId, id));
  });

  /** An open issue of the repository, and what belongs to it. */
  readonly issue = makeOnce(async () => makeIssue(await this.repo()));
  readonly comment = makeOnce(async () => makeComment(await this.issue()));
  readonly commentPath = makeOnce(async () => {
    const [{ owner, name }, { id }] = [await this.repo(), await this.comment()];
    return { owner, repo: name, id };
  });
  readonly label = makeOnce(async () => makeLabel({ repo: await this.repo() }));
  readonly orgLabel = makeOnce(async () => makeLabel({ org: await this.org() }));
  /** Attaches the label to the issue. */
  readonly issueLabel = makeOnce(async () => {
    const [label, issue] = [await this.label(), await this.issue()];
    await attachLabel(issue, label);
  });
  /** A published release with one file, of a tag that the repository need not have. */
  readonly release = makeOnce(async () => makeRelease(await this.repo()));
  readonly asset = makeOnce(async () => makeAsset(await this.release()));
  readonly releasePath = makeOnce(async () => ({
    ...(await this.repoPath()),
    id: (await this.release()).id,
  }));
  readonly milestone = makeOnce(async () => makeMilestone(await this.repo()));
  readonly time = makeOnce(async () => makeTime(await this.issue(), await this.user()));
  readonly stopwatch = makeOnce(async () => makeStopwatch(await this.issue(), await this.user()));
  /** An unread notification of the user about the issue. */
  readonly notification = makeOnce(async () =>
    makeNotification(await this.user(), await this.issue()),
  );
  readonly issuePath = makeOnce(async () => {
    const [{ owner, name }, { number }] = [await this.repo(), await this.issue()];
    return { owner, repo: name, index: number };
  });

  /** An open pull request of a branch `topic` into `main`, with one commit that adds a file. */
  readonly pull = makeOnce(async () => {
    const [repo, code] = [await this.repo(), await this.code()];
    const topic = makeSampleTopic(repo, code.oid, this.fields.text);
    const pull = await makePull(repo, {
      headOid: topic.oid,
      mergeBaseOid: code.oid,
      checkedBaseOid: code.oid,
      additions: 1,
      changedFiles: 1,
      aheadCount: 1,
    });
    await topic.store("refs/heads/topic", `refs/pull/${pull.number}/head`);
    return pull;
  });
  /**
   * The path of an open pull request of the same commit into `some/branch`, which a request may
   * merge.
   */
  readonly mergeablePath = makeOnce(async () => {
    const [repo, { pull: first }] = [await this.repo(), await this.pull()];
    const { headOid, mergeBaseOid, checkedBaseOid } = first;
    const commits = { headOid, mergeBaseOid, checkedBaseOid };
    const { number } = await makePull(repo, { ...commits, baseBranch: "some/branch" });
    const topic = makeSampleTopic(repo, checkedBaseOid, this.fields.text);
    await topic.store(`refs/pull/${number}/head`);
    return { owner: repo.owner, repo: repo.name, index: number };
  });
  readonly pullPath = makeOnce(async () => {
    const [{ owner, name }, { number }] = [await this.repo(), await this.pull()];
    return { owner, repo: name, index: number };
  });
  /**
   * Rules for branches that do not exist, of the repository and of the organization, and one for
   * tags.
   */
  readonly branchRule = makeOnce(async () => {
    const [{ id }, { id: userId }] = [await this.repo(), await this.user()];
    const push = { isRestricted: true, userIds: [userId], teamIds: [], deployKeys: false };
    return makeRule({ id }, { name: freshName("rule"), settings: { isPushEnabled: true, push } });
  });
  readonly ruleset = makeOnce(async () =>
    makeRuleset(await this.org(), { name: freshName("ruleset") }),
  );
  readonly tagRule = makeOnce(async () =>
    makeTagRule(await this.repo(), {
      namePattern: freshName("rule"),
      userIds: [(await this.user()).id],
    }),
  );

  /** A package of the user that is linked to no repository. */
  readonly package = makeOnce(async () => makePackage(await this.user()));
  readonly packagePath = makeOnce(async () => {
    const { owner, type, name } = await this.package();
    return { owner, type, name };
  });
  readonly packageVersionPath = makeOnce(async () => ({
    ...(await this.packagePath()),
    version: "1.0",
  }));
  /** The path of a package of the user that is linked to the repository. */
  readonly linkedPackagePath = makeOnce(async () => {
    const [user, { id: repoId }] = [await this.user(), await this.repo()];
    const { owner, type, name } = await makePackage(user, { repoId });
    return { owner, type, name };
  });

  /** A disabled cleanup rule of the organization, which has a package that it would delete. */
  readonly cleanupRule = makeOnce(async () => {
    const org = await this.org();
    await makePackage(org);
    return makeCleanupRule(org, { isEnabled: false });
  });

  readonly lock = makeOnce(async () => this.changeIssue({ isLocked: true }));
  readonly pin = makeOnce(async () => this.changeIssue({ pinOrder: 1 }));

  /** Branches `main`, `some/branch` and `settings`, and an annotated tag `some/tag`. */
  readonly code = makeOnce(async () => storeSampleCode(await this.repo(), this.fields.text));
  readonly orgCode = makeOnce(async () => storeSampleCode(await this.orgRepo()));
  /** A wiki with one page, and the path of the page. */
  readonly wikiPagePath = makeOnce(async () => {
    const repo = await this.repo();
    await storeWiki(repo, { "Home.md": "# Home\n" });
    return { ...(await this.repoPath()), pageName: "Home" };
  });
  /** A run that has ended, with one job. */
  readonly workflowRun = makeOnce(async () => {
    const repo = await this.repo();
    const run = await makeRun(repo, { state: "failure", reportedState: "failure" });
    const job = await makeJob(run, repo, { state: "failure", reportedState: "failure" });
    return { run, job };
  });
  readonly workflowRunPath = makeOnce(async () => ({
    ...(await this.repoPath()),
    run: (await this.workflowRun()).run.id,
  }));
  readonly workflowJobPath = makeOnce(async () => ({
    ...(await this.repoPath()),
    job_id: (await this.workflowRun()).job.id,
  }));
  /** An artifact of the run. */
  readonly artifactPath = makeOnce(async () => {
    const { run } = await this.workflowRun();
    const artifact = await makeArtifact(run);
    return { ...(await this.repoPath()), artifact_id: artifact.id };
  });
  /** A repository with a workflow that is started by hand. */
  readonly workflowRepo = makeOnce(async () => {
    const { name, ...fields } = this.fields.repo ?? {};
    const own = name === undefined ? {} : { name: `${name}-workflow` };
    const repo = await make.repo(await this.user(), { ...fields, ...own });
    await storeSampleWorkflow(repo);
    return repo;
  });
  readonly workflowPath = makeOnce(async () => {
    const { id: repoId, owner, name } = await this.workflowRepo();
    const row = { repoId, file: "ci.yml", path: SAMPLE_WORKFLOW_PATH, name: "CI" };
    const events = ["workflow_dispatch"];
    await db.insert(workflows).values({ ...row, events, createdAt: 1, updatedAt: 1 });
    return { owner, repo: name, workflow_id: row.file };
  });
  /** A note on the head of `main`. */
  readonly note = makeOnce(async () => storeSampleNote(await this.repo(), (await this.code()).oid));

  /** The path of the repository as a template with code. */
  readonly templatePath = makeOnce(async () => {
    await this.code();
    const { id, owner, name } = await this.repo();
    await db.update(repositories).set({ isTemplate: true }).where(eq(repositories.id, id));
    return { template_owner: owner, template_repo: name };
  });
  readonly avatar = makeOnce(async () => {
    const { id } = await this.user();
    await db.update(users).set({ avatarHash: AVATAR_HASH }).where(eq(users.id, id));
  });
  readonly orgAvatar = makeOnce(async () => {
    const { id } = await this.org();
    await db.update(users).set({ avatarHash: AVATAR_HASH }).where(eq(users.id, id));
  });
  readonly repoAvatar = makeOnce(async () => {
    const { id } = await this.repo();
    await db.update(repositories).set({ avatarHash: AVATAR_HASH }).where(eq(repositories.id, id));
  });
  readonly star = makeOnce(async () => {
    await db.insert(stars).values(await this.toggle());
  });
  readonly watch = makeOnce(async () => {
    await db.insert(watches).values(await this.toggle());
  });
  readonly follow = makeOnce(async () => {
    const [user, friend] = [await this.user(), await this.friend()];
    await db
      .insert(follows)
      .values({ followerId: user.id, followedId: friend.id, createdAt: 1000 });
  });
  /** A user without a part in anything else, whom others block or add. */
  readonly stranger = makeOnce(() => make.user());
  readonly strangerPath = makeOnce(async () => ({ username: (await this.stranger()).name }));
  readonly collaborator = makeOnce(async () =>
    make.collaborator(await this.repo(), await this.stranger(), 2),
  );
  readonly collaboratorPath = makeOnce(async () => ({
    ...(await this.repoPath()),
    collaborator: (await this.stranger()).name,
  }));
  /** A pending transfer of the repository to the user without a part in anything else. */
  readonly offer = makeOnce(async () => {
    const [{ id: repoId }, { id: doerId }] = [await this.repo(), await this.user()];
    const { id: recipientId } = await this.stranger();
    await db.insert(repositoryTransfers).values({ repoId, doerId, recipientId, createdAt: 1000 });
  });
  readonly block = makeOnce(async () => this.blockedBy(await this.user()));
  readonly orgBlock = makeOnce(async () => this.blockedBy(await this.org()));
  /** The name of a topic of this repository only. */
  readonly topic = makeOnce(async () => {
    const { repoId, visibility } = await this.toggle();
    const name = this.fields.topic ?? freshName("topic");
    const { id: topicId } = only(
      await db.insert(topics).values({ name, createdAt: 1000, updatedAt: 1000 }).returning(),
    );
    await db.batch([
      db.insert(repositoryTopics).values({ repoId, topicId, visibility }),
      db
        .update(repositories)
        .set({ topics: [name] })
        .where(eq(repositories.id, repoId)),
    ]);
    return name;
  });

  readonly userKey = makeOnce(async () => this.publicKey({}));
  readonly pullMirror = makeOnce(async () => makePullMirror(await this.repo()));
  readonly pushMirror = makeOnce(async () => makePushMirror(await this.repo()));
  readonly deployKey = makeOnce(async () => this.publicKey({ repoId: (await this.repo()).id }));
  readonly gpgKey = makeOnce(async () => {
    const keyId = freshName("K");
    const rows = await db
      .insert(gpgKeys)
      .values({
        userId: (await this.user()).id,
        keyId,
        fingerprint: keyId,
        publicKey: "",
        emails: [],
        canSign: true,
        canCertify: true,
        canEncryptComms: false,
        canEncryptStorage: false,
        addedAt: 1000,
        createdAt: 1000,
      })
      .returning();
    return only(rows);
  });
  /** A second email address of the user. */
  readonly email = makeOnce(async () => {
    const email = `${freshName("second")}@example.com`;
    await db.insert(emailAddresses).values({
      userId: (await this.user()).id,
      email,
      lowerEmail: email,
      isActivated: true,
      isPrimary: false,
    });
    return email;
  });
  /** An application that the user registered. */
  readonly application = makeOnce(async () => makeApplication(await this.user()));
  /** The id of a token that no request uses. */
  readonly accessToken = makeOnce(async () => {
    const user = await this.user();
    await make.token(user);
    const rows = await db
      .select()
      .from(accessTokens)
      .where(eq(accessTokens.userId, user.id))
      .orderBy(asc(accessTokens.id));
    return rows.at(-1)?.id ?? 0;
  });

  readonly repoHook = makeOnce(async () => this.hook("repository"));
  readonly orgHook = makeOnce(async () => this.hook("organization"));
  readonly userHook = makeOnce(async () => this.hook("user"));
  readonly siteHook = makeOnce(async () => this.hook("system"));
  readonly repoDelivery = makeOnce(async () => makeKeptDelivery(await this.repoHook()));
  readonly orgDelivery = makeOnce(async () => makeKeptDelivery(await this.orgHook()));
  readonly userDelivery = makeOnce(async () => makeKeptDelivery(await this.userHook()));
  readonly siteDelivery = makeOnce(async () => makeKeptDelivery(await this.siteHook()));

  /** The parameters that name the repository. */
  readonly repoPath = makeOnce(async () => ({
    owner: (await this.user()).name,
    repo: (await this.repo()).name,
  }));
  /** The parameters that name the repository, after its sample code is stored. */
  readonly codePath = makeOnce(async () => {
    await this.code();
    return this.repoPath();
  });
  /** The path of the repository as a fork whose upstream has one commit more on `main`. */
  readonly staleForkPath = makeOnce(async () => {
    await this.code();
    const [user, repo] = [await this.user(), await this.repo()];
    const { networkName, isPrivate } = repo;
    const upstream = await make.repo(user, { networkName, isPrivate });
    await storeSampleUpstream(upstream, this.fields.text ?? repo.name);
    const parent = { parentId: upstream.id, isFork: true };
    await db.update(repositories).set(parent).where(eq(repositories.id, repo.id));
    return this.repoPath();
  });
  readonly orgPath = makeOnce(async () => ({ org: (await this.org()).name }));
  /** The parameters that name the repository of the organization. */
  readonly orgRepoPath = makeOnce(async () => ({
    owner: (await this.org()).name,
    repo: (await this.orgRepo()).name,
  }));
  readonly userPath = makeOnce(async () => ({ username: (await this.user()).name }));
  readonly friendPath = makeOnce(async () => ({ username: (await this.friend()).name }));

  /** The columns of a star or a watch of the repository. */
  private async toggle() {
    const [user, repo] = [await this.user(), await this.repo()];
    const visibility = repo.isPrivate ? ("private" as const) : user.visibility;
    return { userId: user.id, repoId: repo.id, visibility, createdAt: 1000 };
  }

  private async changeIssue(fields: Partial<Issue>) {
    await db
      .update(issues)
      .set(fields)
      .where(eq(issues.id, (await this.issue()).id));
  }

  private async blockedBy({ id: blockerId }: User) {
    const { id: blockedId } = await this.stranger();
    await db.insert(blocks).values({ blockerId, blockedId, createdAt: 1000 });
  }

  private async publicKey(fields: { repoId?: number }) {
    const rows = await db
      .insert(publicKeys)
      .values({
        userId: (await this.user()).id,
        title: "laptop",
        content: "ssh-ed25519 AAAA",
        fingerprint: freshName("SHA256:"),
        createdAt: 1000,
        ...fields,
      })
      .returning();
    return only(rows);
  }

  private async hook(level: Hook["level"]) {
    const approver = level === "system" ? await this.admin() : await this.user();
    return makeHook({
      level,
      approverId: approver.id,
      ...(level === "repository" && { repoId: (await this.repo()).id }),
      ...(level === "organization" && { ownerId: (await this.org()).id }),
      ...(level === "user" && { ownerId: approver.id }),
      // A system webhook would receive the events of other tests, and its receiver does not exist.
      isActive: false,
      // Leased for ever: deliveries that a request creates stay unsent.
      leasedUntil: Number.MAX_SAFE_INTEGER,
    });
  }
}

/** Creates a part at the first call, and returns the same part from then on. */
export function makeOnce<Part>(makePart: () => Promise<Part>): () => Promise<Part> {
  let part: Promise<Part> | undefined;
  return () => (part ??= makePart());
}
