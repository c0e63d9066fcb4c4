import {
  type LevelRow,
  makeActionSecret,
  makeActionVariable,
  makeRunner,
} from "../action-values.ts";
import { makeTask } from "../actions.ts";
import { Browser } from "../browser.ts";
import { call, visit } from "../call.ts";
import { makeFiles } from "../files.ts";
import { makeImportRow } from "../imports.ts";
import { pngOf } from "../images.ts";
import { make } from "../make.ts";
import { makeCleanupRule } from "../packages.ts";
import { CALLBACK, makeApplication, makeTokens } from "../oauth.ts";
import { storeRefs } from "../push.ts";
import { storeWiki } from "../wikis.ts";
import { World } from "../samples/world.ts";
import { door } from "./door.ts";

/** Everything that the paths below show, of one user who is signed in. */
export async function makeSite() {
  const user = await make.userWithPassword();
  const world = new World({ owner: user });
  const [repo, pull, issue] = [await world.repo(), await world.pull(), await world.issue()];
  await makeImportRow(repo, { state: "done", dueAt: null });
  const application = await makeApplication(user);
  const pkg = await world.package();
  // Another user, since the tabs of this one begin with the repositories.
  const profiled = await make.user();
  const profile = await make.repo(profiled, { name: ".profile", visibility: "public" });
  const { oid, pack } = makeFiles({ "README.md": "# Hello" });
  await storeRefs(profile, [{ ref: "refs/heads/main", oid }], pack);
  const at = `/repos/${user.name}/${repo.name}`;
  const release = await call("POST", `${at}/releases`, {
    as: user,
    json: { tag_name: "v1", target_commitish: "main" },
  });
  const asset = await call("POST", `${at}/releases/${release.body.id}/assets?name=a.txt`, {
    as: user,
    headers: { "Content-Type": "application/octet-stream" },
    body: "text",
  });
  const commits = await call("GET", `${at}/commits?limit=1`, { as: user });
  await call("POST", "/user/avatar", { as: user, json: { image: pngOf(1, 1, user.name) } });
  const { body } = await call("GET", "/user", { as: user });
  const { run, job } = await world.workflowRun();
  await makeTask(job, ["one", "two"]);
  await world.artifactPath();
  return {
    user,
    profiled,
    org: await world.org(),
    packagePath: `/${user.name}/-/packages/${pkg.type}/${pkg.name}`,
    browser: await Browser.signedIn(user),
    adminBrowser: await Browser.signedIn(await make.userWithPassword({ isAdmin: true })),
    path: `/${user.name}/${repo.name}`,
    commitOid: String(commits.body[0].sha),
    runPath: `/${user.name}/${repo.name}/actions/runs/${run.number}`,
    jobPosition: job.position,
    wikiOid: await storeWiki(repo, { "Home.md": "# Home\n[[Other]]\n" }),
    pullNumber: pull.number,
    labelId: (await world.label()).id,
    orgLabelId: (await world.orgLabel()).id,
    milestoneId: (await world.milestone()).id,
    ruleName: (await world.branchRule()).name,
    tagRuleId: (await world.tagRule()).id,
    rulesetId: (await world.ruleset()).id,
    hookPaths: {
      repo: `hooks/${(await world.repoHook()).id}`,
      org: `hooks/${(await world.orgHook()).id}`,
      own: `hooks/${(await world.userHook()).id}`,
      site: `hooks/${(await world.siteHook()).id}`,
    },
    deliveryIds: {
      repo: (await world.repoDelivery()).id,
      org: (await world.orgDelivery()).id,
      own: (await world.userDelivery()).id,
      site: (await world.siteDelivery()).id,
    },
    issueNumber: issue.number,
    actions: {
      repo: await makeActions({ repoId: repo.id }),
      org: await makeActions({ ownerId: (await world.org()).id }),
      own: await makeActions({ ownerId: user.id }),
      service: await makeActions({}),
    },
    ruleId: (await world.cleanupRule()).id,
    ownRuleId: (await makeCleanupRule(user)).id,
    uuid: String(asset.body.uuid),
    avatarPath: new URL(body.avatar_url).pathname,
    applicationId: application.id,
    clientId: application.clientId,
    oauthToken: (await makeTokens(user, application, { scope: "openid" })).access,
  };
}

async function makeActions(level: LevelRow) {
  return {
    secret: (await makeActionSecret(level)).name,
    variable: (await makeActionVariable(level)).name,
    runner: (await makeRunner(level)).id,
  };
}

export type Site = Awaited<ReturnType<typeof makeSite>>;

const authorization = ({ clientId }: Site): string => {
  const wanted = { client_id: clientId, redirect_uri: CALLBACK, response_type: "code" };
  return `/login/oauth/authorize?${new URLSearchParams({ ...wanted, scope: "read:user" })}`;
};

/** The pages of secrets, variables and runners of a level. */
const actionsPages = (
  of: string,
  level: keyof Site["actions"],
  settings: (site: Site) => string,
): Record<string, (site: Site) => string> => {
  const at = (below: (actions: Site["actions"]["repo"]) => string) => (site: Site) =>
    `${settings(site)}/actions/${below(site.actions[level])}`;
  return {
    ...(level !== "service" && {
      [`the secrets of ${of}`]: at(() => "secrets"),
      [`a secret of ${of}`]: at(({ secret }) => `secrets/${secret}`),
    }),
    [`the variables of ${of}`]: at(() => "variables"),
    [`a variable of ${of}`]: at(({ variable }) => `variables/${variable}`),
    [`the runners of ${of}`]: at(() => "runners"),
    [`the page of a new runner of ${of}`]: at(() => "runners/new"),
    [`a runner of ${of}`]: at(({ runner }) => `runners/${runner}`),
  };
};

const PAGES: Readonly<Record<string, (site: Site) => string>> = {
  "the start page": () => "/",
  "the address of the explore pages": () => "/explore",
  "the page of all repositories": () => "/explore/repos?q=a",
  "the page of all users": () => "/explore/users?q=a",
  "the page of all organizations": () => "/explore/organizations",
  "the page of a user": ({ user }) => `/${user.name}`,
  "the page of a user's stars": ({ user }) => `/${user.name}?tab=stars`,
  "the page of a user's profile": ({ profiled }) => `/${profiled.name}`,
  "the page of a user's activity": ({ user }) => `/${user.name}?tab=activity`,
  "the page of a user's watched repositories": ({ user }) => `/${user.name}?tab=watching`,
  "the page of a user's followers": ({ user }) => `/${user.name}?tab=followers`,
  "the page of a user's organizations": ({ user }) => `/${user.name}?tab=organizations`,
  "the address of a user's repositories": ({ user }) => `/${user.name}/-/repositories`,
  "the page of an organization": ({ org }) => `/${org.name}`,
  "the page of an organization's activity": ({ org }) => `/${org.name}?tab=activity`,
  "the page of an owner's packages": ({ user }) => `/${user.name}/-/packages?q=a&type=generic`,
  "the page of a package": ({ packagePath }) => packagePath,
  "the page of a version": ({ packagePath }) => `${packagePath}/1.0`,
  "the settings of a package": ({ packagePath }) => `${packagePath}/1.0/settings`,
  "the page of versions": ({ packagePath }) => `${packagePath}/versions`,
  "the page of a repository's packages": ({ path }) => `${path}/packages`,
  "the labels of an organization": ({ org }) => `/org/${org.name}/settings/labels`,
  "the form of a new label of an organization": ({ org }) => `/org/${org.name}/settings/labels/new`,
  "the form of a label of an organization": ({ org, orgLabelId }) =>
    `/org/${org.name}/settings/labels/${orgLabelId}/edit`,
  "the settings of an organization": ({ org }) => `/org/${org.name}/settings`,
  "the rulesets of an organization": ({ org }) => `/org/${org.name}/settings/rulesets`,
  "the form of a new ruleset": ({ org }) => `/org/${org.name}/settings/rulesets/new`,
  "the form of a ruleset": ({ org, rulesetId }) =>
    `/org/${org.name}/settings/rulesets/${rulesetId}`,
  "the webhooks of an organization": ({ org }) => `/org/${org.name}/settings/hooks`,
  "the form of a new webhook of an organization": ({ org }) =>
    `/org/${org.name}/settings/hooks/slack/new`,
  "a webhook of an organization": ({ org, hookPaths }) =>
    `/org/${org.name}/settings/${hookPaths.org}`,
  "a delivery of an organization": ({ org, hookPaths, deliveryIds }) =>
    `/org/${org.name}/settings/${hookPaths.org}/deliveries/${deliveryIds.org}`,
  "the users whom an organization blocks": ({ org }) => `/org/${org.name}/settings/blocked_users`,
  "the form of a new team": ({ org }) => `/org/${org.name}/teams/new`,
  "the form of a team": ({ org }) => `/org/${org.name}/teams/Owners/edit`,
  "the page of members": ({ org }) => `/org/${org.name}/members`,
  "the page of teams": ({ org }) => `/org/${org.name}/teams`,
  "the page of a team": ({ org }) => `/org/${org.name}/teams/Owners`,
  "the page of all topics": () => "/explore/topics?q=abc",
  "the form of a new repository": () => "/repo/create",
  "the form of a migration": () => "/repo/migrate?service_type=3",
  "the page of a migration": ({ path }) => `${path}/-/migrate/status`,
  "the form of a new organization": () => "/org/create",
  "the form of a fork": ({ path }) => `${path}/fork`,
  "the page of notifications": () => "/notifications",
  "the page of a repository": ({ path }) => path,
  "the address of the default branch": ({ path }) => `${path}/src`,
  "the page of a directory": ({ path }) => `${path}/src/branch/main`,
  "the page of a file's lines and their commits": ({ path }) => `${path}/blame/branch/main/file`,
  "the page that finds a file": ({ path }) => `${path}/find/branch/main?q=f`,
  "the paths of all files": ({ path }) => `${path}/tree-list/branch/main`,
  "the search in files": ({ path }) => `${path}/search?q=a`,
  "the page of the history": ({ path }) => `${path}/commits/branch/main`,
  "the search in commits": ({ path }) => `${path}/commits/branch/main/search?q=a&all=true`,
  "the graph of commits": ({ path }) => `${path}/graph`,
  "the branches of a commit": ({ path, commitOid }) =>
    `${path}/commit/${commitOid}/branches-and-tags`,
  "the page of deleted branches": ({ path }) => `${path}/branches/deleted`,
  "the page of a commit": ({ path, commitOid }) => `${path}/commit/${commitOid}`,
  "the patch of a commit": ({ path, commitOid }) => `${path}/commit/${commitOid}.patch`,
  "the form of a comparison": ({ path }) => `${path}/compare`,
  "the address that git prints after a push": ({ path }) => `${path}/pulls/new/main`,
  "the page of a comparison": ({ path }) => `${path}/compare/some/tag...main`,
  "the page of a comparison with a fork": ({ path, user }) =>
    `${path}/compare/some/tag...${user.name}:main`,
  "the form of a new pull request": ({ path }) => `${path}/compare/some/branch...topic`,
  "the page of branches": ({ path }) => `${path}/branches`,
  "the page of tags": ({ path }) => `${path}/tags`,
  "the settings of a repository": ({ path }) => `${path}/settings`,
  "the collaborators of a repository": ({ path }) => `${path}/settings/collaboration`,
  "the rules for branches": ({ path }) => `${path}/settings/branches`,
  "the form of a new rule": ({ path }) => `${path}/settings/branches/edit`,
  "the form of a rule": ({ path, ruleName }) =>
    `${path}/settings/branches/edit?rule_name=${ruleName}`,
  "the rules for tags": ({ path }) => `${path}/settings/tags`,
  "the form of a rule for tags": ({ path, tagRuleId }) => `${path}/settings/tags/${tagRuleId}`,
  "the webhooks of a repository": ({ path }) => `${path}/settings/hooks`,
  "the form of a new webhook": ({ path }) => `${path}/settings/hooks/gitea/new`,
  "a webhook of a repository": ({ path, hookPaths }) => `${path}/settings/${hookPaths.repo}`,
  "a delivery of a repository": ({ path, hookPaths, deliveryIds }) =>
    `${path}/settings/${hookPaths.repo}/deliveries/${deliveryIds.repo}`,
  "the deploy keys of a repository": ({ path }) => `${path}/settings/keys`,
  "the mirrors of a repository": ({ path }) => `${path}/settings/mirrors`,
  "the large files of a repository": ({ path }) => `${path}/settings/lfs`,
  "the locks of a repository": ({ path }) => `${path}/settings/lfs/locks`,
  "the page of runs": ({ path }) => `${path}/actions?workflow=ci.yml&status=failure&actor=a`,
  "the form that starts a workflow": ({ path }) => `${path}/actions/run?workflow=ci.yml`,
  "the badge of a workflow": ({ path }) => `${path}/actions/workflows/ci.yml/badge.svg`,
  "the page of a run": ({ runPath }) => runPath,
  "an artifact": ({ runPath }) => `${runPath}/artifacts/result`,
  "the page of a job": ({ runPath, jobPosition }) => `${runPath}/jobs/${jobPosition}`,
  "the rows of a log": ({ runPath, jobPosition }) => `${runPath}/jobs/${jobPosition}/logs?step=1`,
  "the log of a job": ({ runPath, jobPosition }) => `${runPath}/jobs/${jobPosition}/logs`,
  "the page of releases": ({ path }) => `${path}/releases`,
  "the address of the latest release": ({ path }) => `${path}/releases/latest`,
  "the page of a release": ({ path }) => `${path}/releases/tag/v1`,
  "the form of a new release": ({ path }) => `${path}/releases/new?tag=v1`,
  "the form of a release": ({ path }) => `${path}/releases/edit/v1`,
  "the page of stargazers": ({ path }) => `${path}/stars`,
  "the page of watchers": ({ path }) => `${path}/watchers`,
  "the page of forks": ({ path }) => `${path}/forks`,
  "the page of labels": ({ path }) => `${path}/labels?sort=mostissues`,
  "the form of a new label": ({ path }) => `${path}/labels/new`,
  "the form of a label": ({ path, labelId }) => `${path}/labels/${labelId}/edit`,
  "the page of milestones": ({ path }) => `${path}/milestones?state=closed&sort=name&q=a`,
  "the form of a new milestone": ({ path }) => `${path}/milestones/new`,
  "the form of a milestone": ({ path, milestoneId }) => `${path}/milestones/${milestoneId}/edit`,
  "the page of a milestone": ({ path, milestoneId }) => `${path}/milestone/${milestoneId}`,
  "the page of a week's activity": ({ path }) => `${path}/activity`,
  "the page of a year's activity": ({ path }) => `${path}/activity/yearly`,
  "the page of contributors": ({ path }) => `${path}/activity/contributors`,
  "the page of a wiki": ({ path }) => `${path}/wiki`,
  "the pages of a wiki": ({ path }) => `${path}/wiki?action=_pages`,
  "the search in a wiki": ({ path }) => `${path}/wiki?action=_pages&q=a`,
  "the history of a wiki page": ({ path }) => `${path}/wiki/Home?action=_revision`,
  "the form of a new wiki page": ({ path }) => `${path}/wiki?action=_new`,
  "the form of a wiki page": ({ path }) => `${path}/wiki/Home?action=_edit`,
  "the deletion of a wiki page": ({ path }) => `${path}/wiki/Home?action=_delete`,
  "the page of a wiki's commit": ({ path, wikiOid }) => `${path}/wiki/commit/${wikiOid}`,
  "the patch of a wiki's commit": ({ path, wikiOid }) => `${path}/wiki/commit/${wikiOid}.patch`,
  "a file of a wiki": ({ path }) => `${path}/wiki/raw/Home.md`,
  "the page of somebody's issues": () => "/issues?type=assigned&q=a",
  "the page of somebody's pull requests": () => "/pulls",
  "the page of somebody's milestones": () => "/milestones?q=a&sort=name",
  "the page of issues": ({ path }) => `${path}/issues?q=a`,
  "the page of issues by ids": ({ path }) => `${path}/issues?labels=1&milestone=1`,
  "the page of pull requests": ({ path }) => `${path}/pulls`,
  "the page of an issue": ({ path, issueNumber }) => `${path}/issues/${issueNumber}`,
  "the version of an issue": ({ path, issueNumber }) => `${path}/issues/${issueNumber}/version`,
  "the version of a pull request": ({ path, pullNumber }) => `${path}/pulls/${pullNumber}/version`,
  "the page of an entry": ({ path, issueNumber }) => `${path}/issues/${issueNumber}?entry=9`,
  "the page of a pull request": ({ path, pullNumber }) => `${path}/pulls/${pullNumber}`,
  "the commits of a pull request": ({ path, pullNumber }) => `${path}/pulls/${pullNumber}/commits`,
  "the files of a pull request": ({ path, pullNumber }) => `${path}/pulls/${pullNumber}/files`,
  "the versions of a text": ({ path, issueNumber }) => `${path}/issues/${issueNumber}/history`,
  "the versions of a pull request's text": ({ path, pullNumber }) =>
    `${path}/pulls/${pullNumber}/history`,
  "the form of a new file": ({ path }) => `${path}/_new/main/docs`,
  "the form of a file": ({ path }) => `${path}/_edit/main/file`,
  "the form that deletes a file": ({ path }) => `${path}/_delete/main/file`,
  "the form that uploads files": ({ path }) => `${path}/_upload/main`,
  "the form of a patch": ({ path }) => `${path}/_diffpatch/main`,
  "the form that picks a commit": ({ path, commitOid }) =>
    `${path}/_cherrypick/${commitOid}/some/branch`,
  "the address of a commit to pick": ({ path, commitOid }) => `${path}/_cherrypick/${commitOid}`,
  "the suggestions of issues": ({ path }) => `${path}/issues/suggestions?q=%231`,
  "the suggestions of users": ({ path }) => `${path}/issues/suggestions?q=%40us`,
  "the form of a new issue": ({ path }) => `${path}/issues/new?milestone=1`,
  "the templates of a new issue": ({ path }) => `${path}/issues/new/choose`,
  "the list of documents": () => "/docs",
  "a document": () => "/docs/administration",
  "a document of a folder": () => "/docs/packages/npm",
  "the health check": () => "/api/healthz",
  "the address of the node information": () => "/.well-known/nodeinfo",
  "the page to sign in": () => "/user/login",
  "the page of a forgotten password": () => "/user/forgot_password",
  "the settings of the profile": () => "/user/settings",
  "the page of a second factor": () => "/user/two_factor",
  "the page of a new password": () => "/user/change_password",
  "the settings of the account": () => "/user/settings/account",
  "the settings of the appearance": () => "/user/settings/appearance",
  "the settings of applications": () => "/user/settings/applications",
  "the settings of an application": ({ applicationId }) =>
    `/user/settings/applications/oauth2/${applicationId}`,
  "the settings of organizations": () => "/user/settings/organization",
  "the settings of repositories": () => "/user/settings/repos",
  "the webhooks of an account": () => "/user/settings/hooks",
  "the form of a new webhook of an account": () => "/user/settings/hooks/gitea/new",
  "a webhook of an account": ({ hookPaths }) => `/user/settings/${hookPaths.own}`,
  "a delivery of an account": ({ hookPaths, deliveryIds }) =>
    `/user/settings/${hookPaths.own}/deliveries/${deliveryIds.own}`,
  "the settings of blocks": () => "/user/settings/blocked_users",
  "the log of an account": () => "/user/settings/log?kind=user.edited",
  "the export of an account": () => "/user/settings/export",
  "the export of a repository": ({ path }) => `/user/settings/export${path}`,
  "the settings of keys": () => "/user/settings/keys",
  "the settings of security": () => "/user/settings/security",
  "the enrolment of an app": () => "/user/settings/security/two_factor/enroll",
  "the settings of tokens": () => "/user/settings/tokens",
  "the cleanup rules of an account": () => "/user/settings/packages",
  "the form of a new cleanup rule": () => "/user/settings/packages/rules/add",
  "the form of a cleanup rule": ({ ownRuleId }) => `/user/settings/packages/rules/${ownRuleId}`,
  "the preview of a cleanup rule": ({ ownRuleId }) =>
    `/user/settings/packages/rules/${ownRuleId}/preview`,
  "the cleanup rules of an organization": ({ org }) => `/org/${org.name}/settings/packages`,
  "the form of a new cleanup rule of an organization": ({ org }) =>
    `/org/${org.name}/settings/packages/rules/add`,
  "the form of a cleanup rule of an organization": ({ org, ruleId }) =>
    `/org/${org.name}/settings/packages/rules/${ruleId}`,
  "the preview of a cleanup rule of an organization": ({ org, ruleId }) =>
    `/org/${org.name}/settings/packages/rules/${ruleId}/preview`,
  "the page that asks for consent": authorization,
  "the page that asks for consent to an agent": (site) =>
    `${authorization(site)}&resource=https%3A%2F%2Fforge.example%2Fmcp`,
  "the description of the door for agents": () => "/.well-known/oauth-protected-resource/mcp",
  "the description of the provider": () => "/.well-known/oauth-authorization-server",
  "the keys of the provider": () => "/login/oauth/keys",
  "the feed of a user": ({ user }) => `/${user.name}.rss`,
  "the feed of a repository": ({ path }) => `${path}.atom`,
  "the feed of releases": ({ path }) => `${path}/releases.rss`,
  "the feed of tags": ({ path }) => `${path}/tags.atom`,
  "the feed of a file": ({ path }) => `${path}/atom/branch/main/file`,
  "an archive": ({ path }) => `${path}/archive/main.tar.gz`,
  "a file of a branch": ({ path }) => `${path}/raw/branch/main/file`,
  "a file at an earlier address": ({ path }) => `${path}/raw/main/file`,
  "an image of a text": ({ path }) => `${path}/media/tag/some/tag/file`,
  "the changes of a pull request": ({ path, pullNumber }) => `${path}/pulls/${pullNumber}.diff`,
  "a file": ({ uuid }) => `/attachments/${uuid}`,
  "a file of a repository": ({ path, uuid }) => `${path}/attachments/${uuid}`,
  "a file of a release": ({ path }) => `${path}/releases/download/v1/a.txt`,
  "a file of the latest release": ({ path }) => `${path}/releases/latest/download/a.txt`,
  "a generated avatar": ({ user }) => `/avatars/${user.id}`,
  "an uploaded avatar": ({ avatarPath }) => avatarPath,
  ...actionsPages("a repository", "repo", ({ path }) => `${path}/settings`),
  ...actionsPages("an organization", "org", ({ org }) => `/org/${org.name}/settings`),
  ...actionsPages("an account", "own", () => "/user/settings"),
};

/** Pages for administrators of the service. */
const ADMIN_PAGES: Readonly<Record<string, (site: Site) => string>> = {
  "the overview of the administration": () => "/-/admin",
  ...actionsPages("the service", "service", () => "/-/admin"),
  "the administration's users": () => "/-/admin/users?q=use",
  "the administrators": () => "/-/admin/users?status=admin",
  "the form of a new user": () => "/-/admin/users/new",
  "the administration's page of a user": ({ user }) => `/-/admin/users/${user.id}`,
  "the form of a user": ({ user }) => `/-/admin/users/${user.id}/edit`,
  "the administration's addresses": () => "/-/admin/emails?q=exa",
  "the administration's badges": () => "/-/admin/badges",
  "the administration's organizations": () => "/-/admin/orgs?q=a",
  "the administration's repositories": () => "/-/admin/repos?sort=size",
  "the administration's packages": () => "/-/admin/packages",
  "the webhooks of the service": () => "/-/admin/hooks",
  "the form of a new system webhook": () => "/-/admin/system-hooks/gitea/new",
  "the form of a new default webhook": () => "/-/admin/default-hooks/slack/new",
  "a webhook of the service": ({ hookPaths }) => `/-/admin/${hookPaths.site}`,
  "a delivery of the service": ({ hookPaths, deliveryIds }) =>
    `/-/admin/${hookPaths.site}/deliveries/${deliveryIds.site}`,
  "the schedule": () => "/-/admin/monitor/cron",
  "the queues": () => "/-/admin/monitor/queue",
  "the storage": () => "/-/admin/storage",
  "a quota": ({ user }) => `/-/admin/quotas/${user.name}`,
  "the settings of the service": () => "/-/admin/config",
  "the audit log of the service": () => "/-/admin/audit?kind=user.edited&actor=root&owner=root",
};

/** All pages, those of administrators too. */
export const ALL_PAGES: Readonly<Record<string, (site: Site) => string>> = {
  ...PAGES,
  ...ADMIN_PAGES,
};

/** Who may open a page of `ALL_PAGES`. */
export const readerOf = (site: Site, title: string): Browser =>
  Object.hasOwn(ADMIN_PAGES, title) ? site.adminBrowser : site.browser;

/** A form that creates a token, with its page. */
const TOKENS = "/user/settings/tokens";

/** Requests of a browser that is signed in, and of readers of feeds. */
export const PAGES_DOOR = door<Site>({
  open: makeSite,
  requests: {
    ...Object.fromEntries(
      Object.entries(ALL_PAGES).map(([title, to]) => [
        title,
        (site: Site) => readerOf(site, title).get(to(site)),
      ]),
    ),
    "the feed of a repository, for nobody": ({ path }) => visit("GET", `${path}.rss`),
    "the page to sign in, and its form": ({ user }) => new Browser().signIn(user),
    "the page of tokens, and the form of a new one": ({ browser }, turn) =>
      browser.submit(TOKENS, { name: `token ${turn}`, "scope-repository": "read" }),
  },
});
