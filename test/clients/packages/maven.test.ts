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
import { hasProgram, tryProgram } from "../support/run-program.ts";
import { runDocument } from "./document.ts";

const hasMaven = hasProgram("mvn") && hasProgram("javac") && hasProgram("jar");
if (!hasMaven) console.log("no Maven: its tests are skipped");

const DEPLOY = "org.apache.maven.plugins:maven-deploy-plugin:3.1.4";
const DEPENDENCY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/**
 * Plugins are kept between runs; artifacts have fresh names, so that none of them is in it before.
 */
const LOCAL = resolve("node_modules/.cache/maven-repository");
const ENV = { MAVEN_OPTS: `-Dmaven.repo.local=${LOCAL}` };

const urlOf = ({ name }: { name: string }) => `${serviceUrl}/api/packages/${name}/maven`;

/** A directory with settings for the repository of an owner. */
function makeSettings(owner: Pick<Caller, "name">, credential?: Caller): string {
  const directory = makeDirectory();
  const server = credential
    ? `<server><id>forge</id><username>${credential.name}</username><password>${credential.password}</password></server>`
    : "";
  const repository = `<repository><id>forge</id><url>${urlOf(owner)}</url>
    <releases><updatePolicy>always</updatePolicy></releases>
    <snapshots><enabled>true</enabled><updatePolicy>always</updatePolicy></snapshots></repository>`;
  writeFileSync(
    join(directory, "settings.xml"),
    `<settings><servers>${server}</servers><profiles><profile><id>p</id>
      <repositories>${repository}</repositories></profile></profiles>
      <activeProfiles><activeProfile>p</activeProfile></activeProfiles></settings>`,
  );
  writeFileSync(join(directory, "text.jar"), "first");
  return directory;
}

const maven = (directory: string, ...args: string[]) =>
  tryProgram("mvn", ["-B", "-s", "settings.xml", ...args], { directory, env: ENV });

const deploy = (
  directory: string,
  owner: Pick<Caller, "name">,
  artifact: string,
  version: string,
  ...more: string[]
) =>
  maven(
    directory,
    `${DEPLOY}:deploy-file`,
    "-DrepositoryId=forge",
    `-Durl=${urlOf(owner)}`,
    "-Dfile=text.jar",
    "-DgroupId=org.example",
    `-DartifactId=${artifact}`,
    `-Dversion=${version}`,
    ...more,
  );

/** Copies an artifact into an empty folder; `-U` asks the repository again. */
const copy = (directory: string, artifact: string, version: string) => {
  mkdirSync(join(directory, "out"), { recursive: true });
  return maven(
    directory,
    "-U",
    `${DEPENDENCY}:copy`,
    `-Dartifact=org.example:${artifact}:${version}`,
    "-DoutputDirectory=out",
    "-Dmdep.overWriteSnapshots=true",
    "-Dmdep.useBaseVersion=true",
  );
};

const textOf = (directory: string, artifact: string, version: string) =>
  readFileSync(join(directory, `out/${artifact}-${version}.jar`), "utf8");

describe.skipIf(!hasMaven)("Maven", { timeout: 300_000 }, () => {
  let owner: Caller;
  let credential: Caller;

  beforeAll(async () => {
    owner = await makeUser();
    credential = { name: owner.name, password: await makeToken(owner, "write:package") };
  });

  it("publishes, installs and deletes as the document says", async () => {
    const artifact = freshName("greeting");
    const mismatches = await runDocument("docs/packages/maven.md", makeDirectory(), {
      ...ENV,
      FORGE: serviceUrl,
      OWNER: owner.name,
      TOKEN: credential.password,
      ARTIFACT: artifact,
    });
    expect(mismatches).toEqual([]);
  });

  it("publishes the next version, which a range finds, and no version twice", async () => {
    const artifact = freshName("lib");
    const directory = makeSettings(owner, credential);
    expect(await deploy(directory, owner, artifact, "1.9")).toMatchObject({ code: 0 });
    writeFileSync(join(directory, "text.jar"), "second");
    expect(await deploy(directory, owner, artifact, "1.10")).toMatchObject({ code: 0 });
    const again = await deploy(directory, owner, artifact, "1.10");
    expect([again.code, again.output]).toEqual([1, expect.stringContaining("409")]);

    // A reader without any credential.
    const reader = makeSettings(owner);
    writeFileSync(
      join(reader, "pom.xml"),
      `<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>
        <artifactId>user</artifactId><version>1</version><dependencies><dependency>
        <groupId>org.example</groupId><artifactId>${artifact}</artifactId><version>[1,2)</version>
        </dependency></dependencies></project>`,
    );
    const found = await maven(
      reader,
      `${DEPENDENCY}:copy-dependencies`,
      "-DoutputDirectory=out",
      "-Dstyle.color=never",
    );
    expect([found.code, found.output]).toEqual([0, expect.not.stringMatching(/checksum/i)]);
    expect(textOf(reader, artifact, "1.10")).toBe("second");
  });

  it("publishes a project with its POM", async () => {
    const artifact = freshName("project");
    const directory = makeSettings(owner, credential);
    const target = `<id>forge</id><url>${urlOf(owner)}</url>`;
    writeFileSync(
      join(directory, "pom.xml"),
      `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
        <groupId>org.example</groupId><artifactId>${artifact}</artifactId><version>1.0</version>
        <packaging>pom</packaging><description>All of it</description>
        <distributionManagement><repository>${target}</repository></distributionManagement></project>`,
    );
    const { code, output } = await maven(directory, `${DEPLOY}:deploy`);
    expect([output, code]).toEqual([expect.stringContaining("BUILD SUCCESS"), 0]);
    const pom = await fetch(`${urlOf(owner)}/org/example/${artifact}/1.0/${artifact}-1.0.pom`);
    expect(await pom.text()).toContain("All of it");
  });

  it("publishes a snapshot again and again, and reads the newest build", async () => {
    const artifact = freshName("snap");
    const directory = makeSettings(owner, credential);
    const reader = makeSettings(owner);
    for (const text of ["one", "two"]) {
      writeFileSync(join(directory, "text.jar"), text);
      expect(await deploy(directory, owner, artifact, "1-SNAPSHOT")).toMatchObject({ code: 0 });
      expect(await copy(reader, artifact, "1-SNAPSHOT")).toMatchObject({ code: 0 });
      expect(textOf(reader, artifact, "1-SNAPSHOT")).toBe(text);
    }
    const path = `org/example/${artifact}/1-SNAPSHOT/maven-metadata.xml`;
    const metadata = await (await fetch(`${urlOf(owner)}/${path}`)).text();
    expect(metadata).toContain("<buildNumber>2</buildNumber>");
  });

  it("reads a private owner's artifact by a token, and not without or with a wrong one", async () => {
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, {
      login_name: secret.name,
      source_id: 0,
      visibility: "private",
    });
    const artifact = freshName("secret");
    const write = { name: secret.name, password: await makeToken(secret, "write:package") };
    const read = { name: secret.name, password: await makeToken(secret, "read:package") };
    const wrong = { name: secret.name, password: "0".repeat(40) };
    for (const refused of [undefined, wrong, read]) {
      const answer = await deploy(makeSettings(secret, refused), secret, artifact, "1.0");
      expect([answer.code, answer.output]).toEqual([1, expect.stringMatching(/401|authori/i)]);
    }
    expect(await deploy(makeSettings(secret, write), secret, artifact, "1.0")).toMatchObject({
      code: 0,
    });
    for (const refused of [undefined, wrong]) {
      const answer = await copy(makeSettings(secret, refused), artifact, "1.0");
      expect([answer.code, answer.output]).toEqual([1, expect.stringMatching(/401|authori/i)]);
    }
    const reader = makeSettings(secret, read);
    expect(await copy(reader, artifact, "1.0")).toMatchObject({ code: 0 });
    expect(textOf(reader, artifact, "1.0")).toBe("first");
  });
});
