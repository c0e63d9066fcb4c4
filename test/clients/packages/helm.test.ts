import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { admin, type Caller, callApi, makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { readCommands } from "../support/read-commands.ts";
import { runProgram, tryProgram } from "../support/run-program.ts";

/** Where `.ci/install-clients` puts Helm. */
const HELM = resolve("node_modules/.cache/bin/helm");
const hasHelm = existsSync(HELM);
if (!hasHelm) console.log("no Helm: its tests are skipped");

const repositoryOf = ({ name }: Caller): string => `${serviceUrl}/api/packages/${name}/helm`;

let owner: Caller;
let token: string;

beforeAll(async () => {
  owner = await makeUser();
  token = await makeToken(owner, "write:package");
});

const helm = (home: string, ...args: string[]) => tryProgram(HELM, args, { directory: home });

/** Packages a chart with a value of its own, and returns the path of the archive. */
async function packageChart(home: string, name: string, version: string): Promise<string> {
  if (!existsSync(join(home, name))) await runProgram(HELM, ["create", name], { directory: home });
  await runProgram(HELM, ["package", name, "--version", version], { directory: home });
  return join(home, `${name}-${version}.tgz`);
}

const publish = async (archive: string, secret = token): Promise<number> => {
  const response = await fetch(`${repositoryOf(owner)}/api/charts`, {
    method: "POST",
    headers: { Authorization: `Bearer ${secret}` },
    body: readFileSync(archive),
  });
  return response.status;
};

describe.skipIf(!hasHelm)("helm", { timeout: 120_000 }, () => {
  it("finds, pulls and renders what was published, until it is deleted", async () => {
    const home = makeDirectory();
    expect(await publish(await packageChart(home, "web", "1.0.0"))).toBe(201);
    expect(await publish(await packageChart(home, "web", "1.0.0"))).toBe(409);
    expect(await helm(home, "repo", "add", "acme", repositoryOf(owner))).toMatchObject({ code: 0 });
    const search = async (): Promise<{ version: string }[]> => {
      const { stdout } = await helm(home, "search", "repo", "acme/web", "--versions", "-o", "json");
      return JSON.parse(stdout) as { version: string }[];
    };
    expect(await search()).toMatchObject([{ name: "acme/web", version: "1.0.0" }]);

    expect(await publish(await packageChart(home, "web", "1.1.0"))).toBe(201);
    expect(await helm(home, "repo", "update", "acme")).toMatchObject({ code: 0 });
    expect((await search()).map(({ version }) => version)).toEqual(["1.1.0", "1.0.0"]);
    expect(await helm(home, "pull", "acme/web", "-d", "pulled", "--untar")).toMatchObject({
      code: 0,
    });
    expect(readFileSync(join(home, "pulled/web/Chart.yaml"), "utf8")).toContain("version: 1.1.0");
    const rendered = await helm(home, "template", "here", "acme/web", "--version", "1.0.0");
    expect(rendered.stdout).toContain("helm.sh/chart: web-1.0.0");

    const removed = await fetch(`${repositoryOf(owner)}/api/charts/web/1.1.0`, {
      method: "DELETE",
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(removed.status).toBe(200);
    await helm(home, "repo", "update", "acme");
    expect((await search()).map(({ version }) => version)).toEqual(["1.0.0"]);
  });

  it("pulls versions that Helm completes", async () => {
    const home = makeDirectory();
    const versions = ["2.0", "1", "01.2.3", "v3"];
    for (const version of versions) {
      expect(await publish(await packageChart(home, "short", version))).toBe(201);
    }
    await runProgram(HELM, ["repo", "add", "acme", repositoryOf(owner)], { directory: home });
    const list = ["search", "repo", "acme/short", "--versions", "-o", "json"];
    const found = JSON.parse((await helm(home, ...list)).stdout) as { version: string }[];
    expect(found.map(({ version }) => version)).toEqual(["v3", "2.0", "01.2.3", "1"]);
    for (const version of versions) {
      const pull = ["pull", "acme/short", "--version", version, "-d", `pulled-${version}`];
      await runProgram("mkdir", [`pulled-${version}`], { directory: home });
      expect(await helm(home, ...pull)).toMatchObject({ code: 0 });
    }
    expect((await helm(home, "template", "x", "acme/short", "--version", "^2")).stdout).toContain(
      "helm.sh/chart: short-2.0",
    );
  });

  it("resolves a dependency from the repository", async () => {
    const home = makeDirectory();
    expect(await publish(await packageChart(home, "base", "0.2.0"))).toBe(201);
    await runProgram(HELM, ["create", "app"], { directory: home });
    const lines = ["dependencies:", "- name: base", "  version: ^0.2.0"];
    const dependencies = [...lines, `  repository: ${repositoryOf(owner)}`, ""].join("\n");
    await runProgram("sh", ["-c", "cat >> app/Chart.yaml"], {
      directory: home,
      input: dependencies,
    });
    expect(await helm(home, "dependency", "update", "app")).toMatchObject({ code: 0 });
    expect(existsSync(join(home, "app/charts/base-0.2.0.tgz"))).toBe(true);
  });

  it("reads the charts of a private owner with a token only", async () => {
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, {
      login_name: secret.name,
      source_id: 0,
      visibility: "private",
    });
    const own = await makeToken(secret, "read:package");
    const home = makeDirectory();
    const add = (...flags: string[]) =>
      helm(home, "repo", "add", "secret", repositoryOf(secret), "--force-update", ...flags);
    expect((await add()).code).toBe(1);
    expect((await add("--username", secret.name, "--password", "wrong")).code).toBe(1);
    expect((await add("--username", owner.name, "--password", token)).code).toBe(1);
    expect(await add("--username", secret.name, "--password", own)).toMatchObject({ code: 0 });
    const archive = await packageChart(home, "web", "3.0.0");
    expect(await publish(archive, own)).toBe(401);
  });

  it("does what the document says", async () => {
    const user = await makeUser();
    const home = makeDirectory();
    const printed = await runProgram("sh", ["-e"], {
      directory: home,
      env: {
        PATH: `${dirname(HELM)}:${process.env["PATH"] ?? ""}`,
        FORGE: serviceUrl,
        OWNER: user.name,
        TOKEN: await makeToken(user, "write:package"),
      },
      input: readCommands("docs/packages/helm.md"),
    });
    expect(printed).toContain('{"saved":true}');
    expect(printed).toContain("acme/hello");
    expect(printed).toContain('{"deleted":true}');
    expect(readFileSync(join(home, "manifests.yaml"), "utf8")).toContain("hello-1.0.0");
  });
});
