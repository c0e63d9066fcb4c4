import { describe, expect, it } from "vitest";
import { decodeText, readByteText } from "../../../src/git/byte-text.ts";
import {
  formatAdvertisement,
  formatCapabilityAdvertisement,
  parseAdvertisement,
} from "../../../src/git/wire/advertisement.ts";
import { parseCapabilities } from "../../../src/git/wire/capabilities.ts";
import { formatCommandRequest } from "../../../src/git/wire/command-request.ts";
import { formatFetchArgs, parseFetchArgs } from "../../../src/git/wire/fetch-request.ts";
import { parseFetchResponse } from "../../../src/git/wire/fetch-response.ts";
import {
  formatLsRefsArgs,
  formatLsRefsResponse,
  parseLsRefsArgs,
  parseLsRefsResponse,
} from "../../../src/git/wire/ls-refs.ts";
import { joinBytes } from "../../../src/git/wire/pkt-line.ts";
import { readFrame } from "../../../src/git/wire/side-band.ts";
import { git, gitBytes, makeFixture, makeRepository } from "../support/git.ts";

const repository = makeFixture("history");
const V2 = { GIT_PROTOCOL: "version=2" };

/** The response of real git to a request of version 2. */
function ask(command: string, args: readonly string[]): Buffer {
  const input = formatCommandRequest({
    command,
    capabilities: parseCapabilities(["object-format=sha1"]),
    args: args as never,
  });
  return gitBytes(repository, ["upload-pack", "--stateless-rpc", "."], { input, env: V2 });
}

// Removes the capabilities, because the parsed map groups values by name and loses their original
// order.
const words = (text: string) => text.replace(/\0[^\n]*\n/, "\n").replace(/^..../, "");

describe("with real git as the server", () => {
  it("parses and formats its advertisements byte for byte", () => {
    for (const service of ["upload-pack", "receive-pack"]) {
      const bytes = gitBytes(repository, [service, "--stateless-rpc", "--advertise-refs", "."]);
      const read = parseAdvertisement(bytes);
      if (!read) throw new Error("incomplete");
      expect(read.next).toBe(bytes.length);
      const { refs, capabilities } = read.value;
      const again = Buffer.from(formatAdvertisement(refs, capabilities)).toString("latin1");
      expect(words(again)).toBe(words(bytes.toString("latin1")));
    }
    const v2 = gitBytes(repository, ["upload-pack", "--stateless-rpc", "--advertise-refs", "."], {
      env: V2,
    });
    const value = parseAdvertisement(v2)?.value;
    expect(Buffer.from(formatCapabilityAdvertisement(value?.capabilities ?? new Map()))).toEqual(
      v2,
    );
  });

  it("parses and formats its ls-refs response byte for byte", () => {
    const request = parseLsRefsArgs(["peel", "symrefs"] as never);
    const bytes = ask("ls-refs", formatLsRefsArgs(request));
    const response = parseLsRefsResponse(bytes)?.value;
    expect(response?.refs.map((ref) => decodeText(ref.name))).toContain("refs/tags/v1");
    expect(Buffer.from(formatLsRefsResponse(request, response?.refs ?? []))).toEqual(bytes);
  });

  it("fetches a pack that git indexes", () => {
    const wantOid = git(repository, ["rev-parse", "main"]);
    const bytes = ask(
      "fetch",
      formatFetchArgs(parseFetchArgs([`want ${wantOid}`, "deepen 2", "done"] as never)),
    );
    const response = parseFetchResponse(bytes);
    expect(response?.value).toMatchObject({ hasPack: true, shallow: { unshallowOids: [] } });
    const pieces: Uint8Array[] = [];
    for (let at = response?.next ?? 0; ;) {
      const read = readFrame(bytes, at);
      if (read?.frame.kind !== "frame") break;
      if (read.frame.band === 1) pieces.push(read.frame.payload);
      at = read.next;
    }
    const pack = joinBytes(pieces);
    expect(readByteText(pack, 0, 4)).toBe("PACK");
    git(makeRepository(), ["index-pack", "--stdin"], { input: pack });
  });
});
