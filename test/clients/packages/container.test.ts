import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import {
  admin,
  type Caller,
  callApi,
  freshName,
  makeToken,
  makeUser,
  serviceUrl,
} from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";
import { runDocument } from "./document.ts";

/** Where `.ci/install-clients` puts what it builds. */
const BIN = resolve("node_modules/.cache/bin");
const PATH = `${BIN}:${process.env["PATH"]}`;
const [crane, oras, helm] = ["crane", "oras", "helm"].map((name) => join(BIN, name)) as [
  string,
  string,
  string,
];

const hasCrane = hasProgram(crane);
const hasSkopeo = hasProgram("skopeo");
const hasOras = hasProgram(oras);
const hasHelm = hasProgram(helm);
for (const [name, has] of Object.entries({ crane: hasCrane, skopeo: hasSkopeo, oras: hasOras })) {
  if (!has) console.log(`no ${name}: its tests are skipped`);
}

type Environment = Readonly<Record<string, string>>;

const tryCommand = (directory: string, command: readonly string[], env: Environment = {}) =>
  tryProgram(command[0] ?? "", command.slice(1), { directory, env });

const runCommand = (directory: string, command: readonly string[], env: Environment = {}) =>
  runProgram(command[0] ?? "", command.slice(1), { directory, env });

const HOST = new URL(serviceUrl).host;

/** A directory in which the clients are signed in as a caller. */
function makeHome(caller?: Caller): { directory: string; env: Record<string, string> } {
  const directory = makeDirectory();
  const config = join(directory, "config");
  mkdirSync(config);
  const auth = caller && Buffer.from(`${caller.name}:${caller.password}`).toString("base64");
  const file = join(config, "config.json");
  writeFileSync(file, JSON.stringify({ auths: auth ? { [HOST]: { auth } } : {} }));
  return {
    directory,
    env: { DOCKER_CONFIG: config, REGISTRY_AUTH_FILE: file, HOME: directory, PATH },
  };
}

let owner: Caller;
let token: Caller;

beforeAll(async () => {
  owner = await makeUser();
  token = { name: owner.name, password: await makeToken(owner, "write:package") };
});

/** A layer of one file, and its directory. */
async function makeLayer(content: string | Buffer, caller = token) {
  const home = makeHome(caller);
  mkdirSync(join(home.directory, "app"));
  writeFileSync(join(home.directory, "app/content"), content);
  await runCommand(home.directory, ["tar", "-czf", "layer.tar.gz", "app"]);
  return home;
}

const append = (home: ReturnType<typeof makeHome>, name: string) =>
  tryCommand(home.directory, [crane, "append", "-f", "layer.tar.gz", "-t", name], home.env);

describe.skipIf(!hasCrane)("crane", () => {
  it("pushes an image, pulls it as anybody, pushes the next one and deletes both", async () => {
    const name = `${HOST}/${owner.name}/${freshName("team")}/app`;
    const first = await makeLayer("first");
    expect(await append(first, `${name}:1.0`)).toMatchObject({ code: 0 });
    const reader = makeHome();
    const read = (reference: string) =>
      tryCommand(reader.directory, [crane, "export", reference, "out.tar"], reader.env);
    expect(await read(`${name}:1.0`)).toMatchObject({ code: 0 });
    expect(await runCommand(reader.directory, ["tar", "-xOf", "out.tar", "app/content"])).toBe(
      "first",
    );
    const digest = (
      await runCommand(reader.directory, [crane, "digest", `${name}:1.0`], reader.env)
    ).trim();
    const second = await makeLayer("second");
    expect(await append(second, `${name}:1.0`)).toMatchObject({ code: 0 });
    // A client that pinned the digest pulls the same image.
    expect(await read(`${name}@${digest}`)).toMatchObject({ code: 0 });
    expect(await runCommand(reader.directory, ["tar", "-xOf", "out.tar", "app/content"])).toBe(
      "first",
    );
    const remove = (reference: string) =>
      tryCommand(second.directory, [crane, "delete", reference], second.env);
    expect(await remove(`${name}@${digest}`)).toMatchObject({ code: 0 });
    expect(await remove(`${name}:1.0`)).toMatchObject({ code: 0 });
    const gone = await read(`${name}:1.0`);
    expect(gone.code).not.toBe(0);
    expect(gone.output).toMatch(/MANIFEST_UNKNOWN|NAME_UNKNOWN/);
  });

  it("signs in by a password, and is refused with a wrong token and as another user", async () => {
    const image = freshName("image");
    const name = `${HOST}/${owner.name}/${image}:1`;
    expect(await append(await makeLayer("x", owner), name)).toMatchObject({ code: 0 });
    const other = await makeUser();
    for (const caller of [{ name: owner.name, password: "wrong" }, other]) {
      const refused = await append(await makeLayer("y", caller), `${name}-refused`);
      expect(refused.code).not.toBe(0);
      expect(refused.output).toContain("UNAUTHORIZED");
    }
    const versions = await callApi<{ version: string }[]>(
      owner,
      "GET",
      `/packages/${owner.name}/container/${image}`,
    );
    expect(versions.map(({ version }) => version)).toEqual(["1"]);
  });

  it("pulls the images of a private owner with a token, and not without", async () => {
    const secret = await makeUser();
    const password = await makeToken(secret, "write:package");
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, { visibility: "private" });
    const name = `${HOST}/${secret.name}/app:1`;
    const home = await makeLayer("secret", { name: secret.name, password });
    expect(await append(home, name)).toMatchObject({ code: 0 });
    const read = ({ directory, env }: ReturnType<typeof makeHome>) =>
      tryCommand(directory, [crane, "manifest", name], env);
    expect(await read(home)).toMatchObject({ code: 0 });
    expect((await read(makeHome())).output).toContain("UNAUTHORIZED");
    expect((await read(makeHome(token))).code).not.toBe(0);
  });

  it("copies an index of several platforms between images, with mounted layers", async () => {
    const image = freshName("multi");
    const name = `${HOST}/${owner.name}/${image}`;
    const home = await makeLayer("amd64");
    await append(home, `${name}:amd64`);
    await append(await makeLayer("arm64"), `${name}:arm64`);
    const index = ["index", "append", "-m", `${name}:amd64`, "-m", `${name}:arm64`];
    await runCommand(home.directory, [crane, ...index, "-t", `${name}:all`], home.env);
    await runCommand(home.directory, [crane, "copy", `${name}:all`, `${name}-copy:all`], home.env);
    const manifest = await runCommand(
      home.directory,
      [crane, "manifest", `${name}-copy:all`],
      home.env,
    );
    expect(JSON.parse(manifest)).toMatchObject({ manifests: [{}, {}] });
    const valid = ["validate", "--remote", `${name}-copy:all`];
    expect(await tryCommand(home.directory, [crane, ...valid], home.env)).toMatchObject({
      code: 0,
    });
    const catalog = await runCommand(home.directory, [crane, "catalog", HOST], home.env);
    expect(catalog.split("\n")).toContain(`${owner.name}/${image}-copy`);
  });
});

describe.skipIf(!hasSkopeo)("skopeo", () => {
  it("pushes an image with a large layer, inspects it and pulls it", async () => {
    const name = `docker://${HOST}/${owner.name}/${freshName("large")}:1`;
    const home = makeHome(token);
    const layer = randomBytes(40 * 1024 * 1024);
    const config = JSON.stringify({
      architecture: "amd64",
      os: "linux",
      rootfs: { type: "layers", diff_ids: [digestOf(layer)] },
    });
    const made = join(home.directory, "made");
    mkdirSync(made);
    for (const content of [layer, Buffer.from(config)]) {
      writeFileSync(join(made, digestOf(content).slice(7)), content);
    }
    const describeContent = (content: Buffer, mediaType: string) => ({
      mediaType,
      digest: digestOf(content),
      size: content.length,
    });
    const type = "application/vnd.docker";
    writeFileSync(join(made, "version"), "Directory Transport Version: 1.1\n");
    writeFileSync(
      join(made, "manifest.json"),
      JSON.stringify({
        schemaVersion: 2,
        mediaType: `${type}.distribution.manifest.v2+json`,
        config: describeContent(Buffer.from(config), `${type}.container.image.v1+json`),
        layers: [describeContent(layer, `${type}.image.rootfs.diff.tar`)],
      }),
    );
    const skopeo = (...args: string[]) => tryCommand(home.directory, ["skopeo", ...args], home.env);
    const copy = ["copy", "--insecure-policy", "--preserve-digests"];
    const pushed = await skopeo(...copy, "--dest-tls-verify=false", `dir:${made}`, name);
    expect(pushed.output + pushed.code).toMatch(/0$/);
    const inspected = await skopeo("inspect", "--tls-verify=false", name);
    expect(JSON.parse(inspected.stdout)).toMatchObject({ RepoTags: ["1"], Os: "linux" });
    const pulled = join(home.directory, "pulled");
    expect(await skopeo(...copy, "--src-tls-verify=false", name, `dir:${pulled}`)).toMatchObject({
      code: 0,
    });
    expect(readFileSync(join(pulled, digestOf(layer).slice(7))).equals(layer)).toBe(true);
    // Pushed again, nothing is uploaded.
    expect(await skopeo(...copy, "--dest-tls-verify=false", `dir:${pulled}`, name)).toMatchObject({
      code: 0,
    });
    expect(await skopeo("delete", "--tls-verify=false", name)).toMatchObject({ code: 0 });
    expect((await skopeo("inspect", "--tls-verify=false", name)).code).not.toBe(0);
  });
});

describe.skipIf(!hasOras)("oras", () => {
  it("pushes an artifact, attaches another to it, finds and pulls it", async () => {
    const name = `${HOST}/${owner.name}/${freshName("artifact")}:1`;
    const home = makeHome(token);
    writeFileSync(join(home.directory, "report.txt"), "a report");
    writeFileSync(join(home.directory, "sbom.json"), "{}");
    const run = (...args: string[]) =>
      runCommand(home.directory, [oras, ...args, "--plain-http"], home.env);
    await run("push", name, "report.txt:text/plain", "--artifact-type", "application/x-report");
    await run("attach", name, "sbom.json", "--artifact-type", "application/x-sbom");
    const found = JSON.parse(
      await run("discover", name, "--artifact-type", "application/x-sbom", "--format", "json"),
    ) as { manifests?: object[]; referrers?: object[] };
    expect(found.referrers ?? found.manifests).toMatchObject([
      { artifactType: "application/x-sbom" },
    ]);
    const pulled = join(home.directory, "pulled");
    await run("pull", name, "-o", pulled);
    expect(readFileSync(join(pulled, "report.txt"), "utf8")).toBe("a report");
    await run("manifest", "delete", name, "--force");
    expect(
      (await tryCommand(home.directory, [oras, "pull", name, "--plain-http"], home.env)).code,
    ).not.toBe(0);
  });
});

describe.skipIf(!hasOras)("oras of a private owner", () => {
  // Unlike others, it asks without its credential first.
  it("lists, discovers and pulls with a credential, and sees nothing without", async () => {
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, {
      login_name: secret.name,
      source_id: 0,
      visibility: "private",
    });
    const home = makeHome({ ...secret, password: await makeToken(secret, "write:package") });
    const image = `${secret.name}/${freshName("hidden")}`;
    const name = `${HOST}/${image}:1`;
    writeFileSync(join(home.directory, "report.txt"), "a report");
    const run = (...args: string[]) =>
      runCommand(home.directory, [oras, ...args, "--plain-http"], home.env);
    await run("push", name, "report.txt:text/plain", "--artifact-type", "application/x-report");
    await run("attach", name, "report.txt:text/plain", "--artifact-type", "application/x-sbom");
    expect(await run("repo", "ls", HOST)).toContain(image);
    expect(await run("repo", "ls", `${HOST}/${secret.name}`)).toContain(image.split("/")[1]);
    expect(await run("repo", "tags", `${HOST}/${image}`)).toContain("1");
    expect(await run("discover", name)).toContain("application/x-sbom");
    await run("pull", name, "-o", "pulled");

    const nobody = makeHome();
    const tryAs = (...args: string[]) =>
      tryCommand(nobody.directory, [oras, ...args, "--plain-http"], nobody.env);
    const all = await tryAs("repo", "ls", HOST);
    expect([all.code, all.output.includes(image)]).toEqual([0, false]);
    for (const args of [
      ["repo", "tags", `${HOST}/${image}`],
      ["pull", name],
    ]) {
      expect((await tryAs(...args)).code).not.toBe(0);
    }
  });
});

describe.skipIf(!hasHelm)("Helm", () => {
  it("pushes a chart and pulls it", async () => {
    const home = makeHome(token);
    const run = (...args: string[]) => runCommand(home.directory, [helm, ...args], home.env);
    const chart = freshName("chart");
    await run("create", chart);
    await run("package", chart);
    const place = `oci://${HOST}/${owner.name}/charts`;
    const config = ["--registry-config", join(home.directory, "config/config.json")];
    await run("push", `${chart}-0.1.0.tgz`, place, "--plain-http", ...config);
    mkdirSync(join(home.directory, "pulled"));
    await run("pull", `${place}/${chart}`, "--plain-http", "-d", "pulled", ...config);
    const [pushed, pulled] = ["", "pulled"].map((directory) =>
      readFileSync(join(home.directory, directory, `${chart}-0.1.0.tgz`)),
    );
    expect(pulled).toEqual(pushed);
  });
});

it.skipIf(!hasCrane || !hasSkopeo)("docs/packages/container.md does what it says", async () => {
  const directory = makeDirectory();
  mkdirSync(join(directory, "config"));
  const mismatches = await runDocument("docs/packages/container.md", directory, {
    PATH,
    HOME: directory,
    HOST,
    OWNER: owner.name,
    TOKEN: token.password,
    IMAGE: freshName("shop/web"),
  });
  expect(mismatches).toEqual([]);
});

const digestOf = (content: string | Buffer): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;
