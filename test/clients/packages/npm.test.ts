import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { admin, type Caller, callApi, makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { readCommands } from "../support/read-commands.ts";
import { type Outcome, runProgram, tryProgram } from "../support/run-program.ts";

/** Where `.ci/install-clients` puts package managers. */
const CLIENTS = resolve("node_modules/.cache/npm-clients/node_modules");
const PNPM = join(CLIENTS, "pnpm/bin/pnpm.cjs");
const YARN_1 = join(CLIENTS, "yarn/bin/yarn.js");
const YARN = join(CLIENTS, "@yarnpkg/cli-dist/bin/yarn.js");
const hasOthers = [PNPM, YARN_1, YARN].every((file) => existsSync(file));
if (!hasOthers) console.log("no pnpm and Yarn: their tests are skipped");

const registryOf = (owner: Pick<Caller, "name">): string =>
  `${serviceUrl}/api/packages/${owner.name}/npm/`;

/** A home of a user of the clients, and packages in it. */
class Work {
  readonly home = makeDirectory();
  readonly registry: string;

  /** @param scope For which the registry is set, with a colon; "" for all packages. */
  constructor(owner: Pick<Caller, "name">, token?: string, scope = "") {
    this.registry = registryOf(owner);
    const lines = [
      `${scope}registry=${this.registry}`,
      ...(token === undefined ? [] : [`${this.registry.replace("http:", "")}:_authToken=${token}`]),
      "update-notifier=false",
      "fund=false",
      "audit=false",
      "",
    ];
    writeFileSync(join(this.home, ".npmrc"), lines.join("\n"));
  }

  /** Writes a folder with a package, or with an application without a name. */
  makeFolder(name: string, version?: string, fields: object = {}): string {
    const folder = join(this.home, `${name.replaceAll("/", "-")}-${version ?? "app"}`);
    mkdirSync(folder, { recursive: true });
    const manifest =
      version === undefined ? { private: true } : { name, version, main: "index.js" };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, ...fields }));
    const text = `module.exports = ${JSON.stringify(`${name} ${version ?? ""}`)};\n`;
    writeFileSync(join(folder, "index.js"), text);
    return folder;
  }

  run = (folder: string, ...args: string[]): Promise<Outcome> =>
    tryProgram("npm", args, { directory: folder, env: { HOME: this.home } });

  node = (folder: string, script: string, ...args: string[]): Promise<Outcome> =>
    tryProgram(process.execPath, [script, ...args], {
      directory: folder,
      env: {
        HOME: this.home,
        YARN_ENABLE_TELEMETRY: "0",
        YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
        YARN_ENABLE_GLOBAL_CACHE: "false",
        COREPACK_ENABLE_STRICT: "0",
      },
    });

  publish = (name: string, version: string, fields: object = {}, ...args: string[]) =>
    this.run(this.makeFolder(name, version, fields), "publish", ...args);

  /** What an installed package exports. */
  readInstalled = (folder: string, name: string): Promise<string> =>
    runProgram(process.execPath, ["-p", `require(${JSON.stringify(name)})`], { directory: folder });
}

let owner: Caller;
let token: string;
let work: Work;

beforeAll(async () => {
  owner = await makeUser();
  token = await makeToken(owner, "write:package");
});

beforeEach(() => {
  work = new Work(owner, token);
});

describe("npm", { timeout: 120_000 }, () => {
  it("publishes versions and installs them in an empty folder", async () => {
    expect(await work.publish("tool", "1.0.0")).toMatchObject({ code: 0 });
    const dependencies = { tool: "^1.0.0" };
    expect(await work.publish("@acme/kit", "0.1.0", { dependencies })).toMatchObject({ code: 0 });

    const anonymous = new Work(owner);
    const app = anonymous.makeFolder("app");
    expect(await anonymous.run(app, "install", "@acme/kit")).toMatchObject({ code: 0 });
    expect(await anonymous.readInstalled(app, "@acme/kit")).toBe("@acme/kit 0.1.0\n");
    expect(await anonymous.readInstalled(app, "tool")).toBe("tool 1.0.0\n");
    const lock = JSON.parse(readFileSync(join(app, "package-lock.json"), "utf8"));
    expect(lock.packages["node_modules/tool"].resolved).toBe(
      `${anonymous.registry}tool/-/1.0.0/tool-1.0.0.tgz`,
    );

    expect(await work.publish("tool", "1.1.0")).toMatchObject({ code: 0 });
    expect((await anonymous.run(app, "outdated", "--all")).output).toContain("1.1.0");
    expect(await anonymous.run(app, "update")).toMatchObject({ code: 0 });
    expect(await anonymous.readInstalled(app, "tool")).toBe("tool 1.1.0\n");
    expect(await anonymous.run(app, "ci")).toMatchObject({ code: 0 });
    // Nothing but the cache: each request would be an error.
    const offline = await anonymous.run(app, "ci", "--offline");
    expect(offline).toMatchObject({ code: 0 });
  });

  it("does not publish a version twice", async () => {
    expect(await work.publish("once", "1.0.0")).toMatchObject({ code: 0 });
    const second = await work.publish("once", "1.0.0", { description: "other" });
    expect(second.code).toBe(1);
    const view = await work.run(work.home, "view", "once", "--json");
    expect(JSON.parse(view.stdout).description).toBeUndefined();
    // Past the client, which looks first.
    const folder = work.makeFolder("once", "1.0.0", { description: "other" });
    const forced = await work.run(folder, "publish", "--force");
    expect(forced.code).toBe(1);
  });

  it("tags, deprecates, views and searches", async () => {
    await work.publish("many", "1.0.0", { description: "Counts sheep", keywords: ["sleep"] });
    await work.publish("many", "2.0.0-rc.1", {}, "--tag", "next");
    const run = (...args: string[]) => work.run(work.home, ...args);
    expect((await run("dist-tag", "ls", "many")).stdout).toBe("latest: 1.0.0\nnext: 2.0.0-rc.1\n");
    expect(await run("dist-tag", "add", "many@1.0.0", "stable")).toMatchObject({ code: 0 });
    expect(await run("dist-tag", "rm", "many", "next")).toMatchObject({ code: 0 });
    expect((await run("dist-tag", "ls", "many")).stdout).toBe("latest: 1.0.0\nstable: 1.0.0\n");

    expect(await run("deprecate", "many@1.0.0", "use another")).toMatchObject({ code: 0 });
    expect((await run("view", "many", "deprecated")).stdout).toBe("use another\n");
    const app = work.makeFolder("app-deprecated");
    expect((await work.run(app, "install", "many")).output).toContain("use another");
    expect(await run("undeprecate", "many@1.0.0")).toMatchObject({ code: 0 });
    expect((await run("view", "many", "deprecated")).stdout).toBe("");

    const view = JSON.parse((await run("view", "many", "--json")).stdout);
    expect(view).toMatchObject({
      name: "many",
      versions: ["1.0.0", "2.0.0-rc.1"],
      dist: { fileCount: 2 },
      time: { "1.0.0": expect.any(String) },
    });
    const found = JSON.parse((await run("search", "sheep", "--json")).stdout);
    expect(found).toMatchObject([{ name: "many", version: "1.0.0", description: "Counts sheep" }]);
  });

  it("unpublishes a version, then the package", async () => {
    for (const version of ["1.0.0", "1.1.0", "2.0.0"]) await work.publish("@acme/gone", version);
    const run = (...args: string[]) => work.run(work.home, ...args);
    expect(await run("unpublish", "@acme/gone@2.0.0")).toMatchObject({ code: 0 });
    expect((await run("view", "@acme/gone", "versions", "--json")).stdout).toBe(
      '[\n  "1.0.0",\n  "1.1.0"\n]\n',
    );
    expect((await run("dist-tag", "ls", "@acme/gone")).stdout).toBe("latest: 1.1.0\n");
    expect(await run("unpublish", "@acme/gone", "--force")).toMatchObject({ code: 0 });
    expect((await run("view", "@acme/gone")).output).toContain("E404");
  });

  // With a registry for the scope alone, npm requests the tarball to delete at another address, and
  // takes its 404 for success.
  it("unpublishes a version where the registry is set for the scope", async () => {
    const scoped = new Work(owner, token, "@scoped:");
    for (const version of ["1.0.0", "1.1.0", "2.0.0"]) {
      expect(await scoped.publish("@scoped/gone", version)).toMatchObject({ code: 0 });
    }
    const run = (...args: string[]) => scoped.run(scoped.home, ...args);
    const versions = async () =>
      JSON.parse((await run("view", "@scoped/gone", "versions", "--json")).stdout);
    expect(await run("dist-tag", "add", "@scoped/gone@2.0.0", "next")).toMatchObject({ code: 0 });
    expect(await run("unpublish", "@scoped/gone@2.0.0")).toMatchObject({ code: 0 });
    expect(await versions()).toEqual(["1.0.0", "1.1.0"]);
    expect((await run("dist-tag", "ls", "@scoped/gone")).stdout).toBe("latest: 1.1.0\n");
    expect(await run("unpublish", "@scoped/gone@1.0.0")).toMatchObject({ code: 0 });
    expect(await scoped.publish("@scoped/gone", "2.0.0")).toMatchObject({ code: 0 });
    expect(await versions()).toEqual(["1.1.0", "2.0.0"]);
    expect(await run("unpublish", "@scoped/gone", "--force")).toMatchObject({ code: 0 });
    expect((await run("view", "@scoped/gone")).output).toContain("E404");
  });

  it("is refused without a right, and says why", async () => {
    await work.publish("mine", "1.0.0");
    const stranger = await makeUser();
    const others = [
      new Work(owner, await makeToken(stranger, "write:package")),
      new Work(owner, await makeToken(owner, "read:package")),
      new Work(owner, "0".repeat(40)),
    ];
    for (const other of others) {
      const { code, output } = await other.publish("mine", "1.0.1");
      expect([code, output.includes("E401")]).toEqual([1, true]);
      expect((await other.run(other.home, "deprecate", "mine", "x")).code).toBe(1);
      expect((await other.run(other.home, "unpublish", "mine", "--force")).code).toBe(1);
    }
    const view = await work.run(work.home, "view", "mine", "versions", "--json");
    expect(JSON.parse(view.stdout)).toEqual(["1.0.0"]);
  });

  it("reads the packages of a private owner with a token only", async () => {
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, {
      login_name: secret.name,
      source_id: 0,
      visibility: "private",
    });
    const own = new Work(secret, await makeToken(secret, "write:package"));
    expect(await own.publish("secret", "1.0.0")).toMatchObject({ code: 0 });
    const app = own.makeFolder("app");
    expect(await own.run(app, "install", "secret")).toMatchObject({ code: 0 });
    expect(await own.readInstalled(app, "secret")).toBe("secret 1.0.0\n");
    const anonymous = new Work(secret);
    const refused = await anonymous.run(anonymous.makeFolder("app"), "install", "secret");
    expect([refused.code, refused.output.includes("E401")]).toEqual([1, true]);
    const other = new Work(secret, token);
    const unseen = await other.run(other.makeFolder("app"), "install", "secret");
    expect([unseen.code, unseen.output.includes("E404")]).toEqual([1, true]);
  });

  it("says whose token it has, and pings", async () => {
    expect((await work.run(work.home, "whoami")).stdout).toBe(`${owner.name}\n`);
    expect(await work.run(work.home, "ping")).toMatchObject({ code: 0 });
    const anonymous = new Work(owner);
    expect((await anonymous.run(anonymous.home, "whoami")).code).toBe(1);
  });

  it("logs in with a password, publishes, and logs out", async () => {
    const user = await makeUser();
    const login = new Work(user);
    const path = `${login.registry}-/user/org.couchdb.user:${user.name}`;
    const answer = await fetch(path, { method: "PUT", body: JSON.stringify(user) });
    expect(answer.status).toBe(201);
    const { token: made } = (await answer.json()) as { token: string };
    const own = new Work(user, made);
    expect(await own.publish("logged-in", "1.0.0")).toMatchObject({ code: 0 });
    expect(await own.run(own.home, "logout")).toMatchObject({ code: 0 });
    const after = new Work(user, made);
    expect((await after.run(after.home, "whoami")).code).toBe(1);
  });

  it("does not claim that a package has no vulnerabilities", async () => {
    await work.publish("audited", "1.0.0");
    const app = work.makeFolder("app-audit");
    expect(await work.run(app, "install", "audited", "--audit")).toMatchObject({ code: 0 });
    const audit = await work.run(app, "audit");
    expect(audit.code).not.toBe(0);
    expect(audit.output).not.toContain("found 0 vulnerabilities");
    expect(audit.output).toContain("this registry has no advisories");
  });

  it("does what the document says", async () => {
    const user = await makeUser();
    const home = makeDirectory();
    const printed = await runProgram("sh", ["-e"], {
      directory: home,
      env: {
        FORGE: serviceUrl,
        OWNER: user.name,
        TOKEN: await makeToken(user, "write:package"),
        npm_config_update_notifier: "false",
      },
      input: readCommands("docs/packages/npm.md"),
    });
    expect(printed).toContain("Hello, npm");
    expect(printed).toContain("stable: 1.0.0");
    const answer = await fetch(`${registryOf(user)}@acme/hello`);
    expect(answer.status).toBe(404);
  });
});

describe.skipIf(!hasOthers)("other clients", { timeout: 120_000 }, () => {
  const app = (name: string, dependency: string) =>
    work.makeFolder(name, undefined, { dependencies: { [dependency]: "^1.0.0" } });

  it("pnpm publishes and installs", async () => {
    const folder = work.makeFolder("@acme/by-pnpm", "1.0.0");
    const published = await work.node(folder, PNPM, "publish", "--no-git-checks");
    expect(published).toMatchObject({ code: 0 });
    const into = app("app-pnpm", "@acme/by-pnpm");
    const store = `--store-dir=${join(work.home, "pnpm-store")}`;
    expect(await work.node(into, PNPM, "install", store)).toMatchObject({ code: 0 });
    expect(await work.readInstalled(into, "@acme/by-pnpm")).toBe("@acme/by-pnpm 1.0.0\n");
    expect((await work.node(folder, PNPM, "publish", "--no-git-checks", "--force")).code).toBe(1);
  });

  it("Yarn 1 publishes and installs", async () => {
    const folder = work.makeFolder("by-yarn-one", "1.0.0");
    const flags = ["--registry", work.registry, "--non-interactive"];
    const published = await work.node(
      folder,
      YARN_1,
      "publish",
      "--new-version",
      "1.0.0",
      ...flags,
    );
    expect(published).toMatchObject({ code: 0 });
    const into = app("app-yarn-one", "by-yarn-one");
    expect(await work.node(into, YARN_1, "install", ...flags)).toMatchObject({ code: 0 });
    expect(await work.readInstalled(into, "by-yarn-one")).toBe("by-yarn-one 1.0.0\n");
    const again = await work.node(folder, YARN_1, "publish", "--new-version", "1.0.0", ...flags);
    expect(again.code).toBe(1);
  });

  it("Yarn publishes and installs with the settings of the document", async () => {
    const [, settings = ""] =
      /```yaml\n([^]*?)```/.exec(readFileSync("docs/packages/npm.md", "utf8")) ?? [];
    const text = [
      settings
        .replaceAll(/https:[^"]*/g, work.registry.replace(/\/$/, ""))
        .replace('"…"', JSON.stringify(token)),
      "nodeLinker: node-modules",
      "",
    ].join("\n");
    const folder = work.makeFolder("@acme/documented", "1.0.0");
    const into = app("app-documented", "@acme/documented");
    for (const each of [folder, into]) {
      writeFileSync(join(each, ".yarnrc.yml"), text);
      writeFileSync(join(each, "yarn.lock"), "");
    }
    expect(await work.node(folder, YARN, "install")).toMatchObject({ code: 0 });
    expect(await work.node(folder, YARN, "npm", "publish")).toMatchObject({ code: 0 });
    const installed = await work.node(into, YARN, "install");
    expect([installed.code, installed.output]).toEqual([0, expect.any(String)]);
    expect(await work.readInstalled(into, "@acme/documented")).toBe("@acme/documented 1.0.0\n");
  });

  it("Yarn publishes, tags and installs", async () => {
    const settings = [
      `npmRegistryServer: ${JSON.stringify(work.registry.replace(/\/$/, ""))}`,
      `npmAuthToken: ${JSON.stringify(token)}`,
      "npmAlwaysAuth: true",
      "nodeLinker: node-modules",
      // Else a version is installed only when it is a day old.
      "npmMinimalAgeGate: 0",
      'unsafeHttpWhitelist: ["127.0.0.1", "localhost"]',
      "",
    ].join("\n");
    const prepare = (folder: string): string => {
      writeFileSync(join(folder, ".yarnrc.yml"), settings);
      writeFileSync(join(folder, "yarn.lock"), "");
      return folder;
    };
    const folder = prepare(work.makeFolder("@acme/by-yarn", "1.0.0"));
    expect(await work.node(folder, YARN, "install")).toMatchObject({ code: 0 });
    expect(await work.node(folder, YARN, "npm", "publish")).toMatchObject({ code: 0 });
    expect(
      await work.node(folder, YARN, "npm", "tag", "add", "@acme/by-yarn@1.0.0", "stable"),
    ).toMatchObject({ code: 0 });
    const tags = await work.node(folder, YARN, "npm", "tag", "list", "@acme/by-yarn");
    expect(tags.output).toContain("stable");
    const into = prepare(app("app-yarn", "@acme/by-yarn"));
    const installed = await work.node(into, YARN, "install");
    expect([installed.code, installed.output]).toEqual([0, expect.any(String)]);
    expect(await work.readInstalled(into, "@acme/by-yarn")).toBe("@acme/by-yarn 1.0.0\n");
    expect((await work.node(folder, YARN, "npm", "publish")).code).toBe(1);
  });
});

it("serves 200 installs at once", { timeout: 300_000 }, async () => {
  await work.publish("popular", "1.0.0");
  const registry = registryOf(owner);
  const accept = { Accept: "application/vnd.npm.install-v1+json" };
  const install = async (): Promise<number> => {
    const document = await fetch(`${registry}popular`, { headers: accept });
    const { versions } = (await document.json()) as {
      versions: Record<string, { dist: { tarball: string } }>;
    };
    const tarball = await fetch(versions["1.0.0"]?.dist.tarball ?? "");
    return (await tarball.arrayBuffer()).byteLength;
  };
  const sizes = await Promise.all(Array.from({ length: 200 }, install));
  expect(new Set(sizes).size).toBe(1);
  expect(sizes[0]).toBeGreaterThan(100);
});
