import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { admin, type Caller, callApi, makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { readCommands } from "../support/read-commands.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";

let owner: Caller;
let token: string;

beforeAll(async () => {
  owner = await makeUser();
  token = await makeToken(owner, "write:package");
});

const isSkipped = !hasProgram("curl") || !hasProgram("sha256sum");
if (isSkipped) process.stderr.write("the generic registry is not tried: curl is not installed\n");

describe.skipIf(isSkipped)("generic packages with curl", () => {
  it("are published, installed and deleted by the commands of the document", async () => {
    const directory = makeDirectory();
    const output = await runProgram("sh", ["-ec", readCommands("docs/packages/generic.md")], {
      directory,
      env: { FORGE: serviceUrl, OWNER: owner.name, TOKEN: token },
    });
    expect(output).toContain("tool.bin: OK");
    expect(output).toMatch(/"type":"generic","name":"tool","version":"1\.0\.0"/);
  });

  it("keep their bytes, in ranges too, and are published once", async () => {
    const directory = makeDirectory();
    const bytes = Buffer.alloc(3_000_000, "0123456789");
    writeFileSync(join(directory, "large"), bytes);
    const url = `${serviceUrl}/api/packages/${owner.name}/generic/large/1/large`;
    const curl = (...args: string[]) => tryProgram("curl", ["-sS", ...args], { directory });
    const put = ["-u", `${owner.name}:${token}`, "-T", "large", url];
    const statusOf = async (...args: string[]) =>
      (await curl("-o", "/dev/null", "-w", "%{http_code}", ...args)).stdout;
    expect(await statusOf(...put)).toBe("201");
    expect(await statusOf(...put)).toBe("409");
    writeFileSync(join(directory, "part"), bytes.subarray(0, 1_234_567));
    expect(await curl("-f", "-C", "-", "-o", "part", url)).toMatchObject({ code: 0 });
    const compared = await tryProgram("cmp", ["large", "part"], { directory });
    expect(compared).toMatchObject({ code: 0 });
    expect(await statusOf("-u", `${owner.name}:${"0".repeat(40)}`, url)).toBe("401");
    expect(await statusOf("-T", "large", `${url}2`)).toBe("401");
  });

  it("of a private owner need a token", async () => {
    const hidden = await makeUser();
    const key = await makeToken(hidden, "write:package");
    const directory = makeDirectory();
    const url = `${serviceUrl}/api/packages/${hidden.name}/generic/secret/1/a`;
    const curl = (...args: string[]) => tryProgram("curl", ["-fsS", ...args], { directory });
    const signedIn = ["-u", `${hidden.name}:${key}`, url];
    expect(
      await tryProgram("curl", ["-fsS", "-T", "-", ...signedIn], { directory, input: "x" }),
    ).toMatchObject({ code: 0 });
    await callApi(admin, "PATCH", `/admin/users/${hidden.name}`, {
      source_id: 0,
      login_name: hidden.name,
      visibility: "private",
    });
    expect((await curl(url)).code).not.toBe(0);
    expect((await curl("-u", `${owner.name}:${token}`, url)).code).not.toBe(0);
    expect(await curl(...signedIn)).toMatchObject({ code: 0, stdout: "x" });
  });
});
