import { expect, it, vi } from "vitest";

import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";
import { make } from "../support/make.ts";
import { filesOf, push, refsOf } from "../support/push.ts";

// SECURITY: git reads .gitmodules in a recursive clone, and runs commands and opens addresses by
// it.

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** Pushes a commit whose tree has one entry, to an empty directory or to a file with `text`. */
async function pushEntry(mode: string, name: string, text?: string) {
  const builder = new PackBuilder(codec);
  const kind = mode === "40000" ? "tree" : "blob";
  const target = mode === "160000" ? "1".repeat(40) : builder.add(kind, bytesOf(text ?? ""));
  const tree = builder.add("tree", joinBytes([bytesOf(`${mode} ${name}\0`), oidBytes(target)]));
  const who = "A <a@example.com> 1700000000 +0000";
  const content = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nm\n`;
  const commit = builder.add("commit", encodeUtf8(content));
  const owner = await make.user();
  const repo = await make.repo(owner);
  return { repo, target, tree, pushed: await push(owner, repo, commit, builder.build()) };
}

/** The finding that refuses a push. Nothing of the push is stored. */
async function refusalOf({ repo, pushed }: Awaited<ReturnType<typeof pushEntry>>): Promise<string> {
  expect(pushed.body).toContain("ng refs/heads/main unpacker error");
  expect(await refsOf(repo)).toEqual([]);
  await vi.waitFor(async () => expect(await filesOf(repo)).toEqual([]));
  const reason = /unpack (?:tree|blob) [0-9a-f]{40}: (\w+): /.exec(String(pushed.body));
  return reason?.[1] ?? String(pushed.body);
}

it.each([
  ["a directory", "40000", ".gitmodules"],
  ["a directory, as Windows reads its name", "40000", "GITMOD~1"],
  ["a directory, as macOS reads its name", "40000", ".git\xe2\x80\x8cmodules"],
  ["a submodule", "160000", ".gitmodules"],
  ["a submodule, as Windows reads its name", "160000", "gi7eba~1"],
  ["a submodule below a backslash", "160000", "a\\.gitmodules"],
])("refuses a .gitmodules that is %s", async (_, mode, name) => {
  expect(await refusalOf(await pushEntry(mode, name))).toBe("gitmodulesBlob");
});

it.each([
  ["a directory", "40000"],
  ["a submodule", "160000"],
])("refuses a .gitattributes that is %s", async (_, mode) => {
  expect(await refusalOf(await pushEntry(mode, ".gitattributes"))).toBe("gitattributesBlob");
});

it("refuses a .gitmodules that is a symbolic link", async () => {
  expect(await refusalOf(await pushEntry("120000", ".gitmodules", "a"))).toBe("gitmodulesSymlink");
});

it.each([
  ["after an old form of the header", "[submodule.a]\n\turl = -u./x\n", "gitmodulesUrl"],
  ["with dots for a name", "[submodule...]\n\turl = a\n", "gitmodulesName"],
  ["after a variable of no section", 'a = b\n[submodule "a"]\n\turl = -u./x\n', "gitmodulesUrl"],
  ["after a byte order mark", '\xef\xbb\xbf[submodule "a"]\n\turl = -u./x\n', "gitmodulesUrl"],
  ["with line ends of Windows", '[submodule "a"]\r\n\turl = -u./x\r\n', "gitmodulesUrl"],
  ["before a syntax error", '[submodule "a"]\n\tupdate = !touch x\n[', "gitmodulesUpdate"],
])("refuses a harmful setting %s", async (_, text, id) => {
  expect(await refusalOf(await pushEntry("100644", ".gitmodules", text))).toBe(id);
});

it("accepts a harmless file", async () => {
  const { repo, pushed } = await pushEntry(
    "100644",
    ".gitmodules",
    '[submodule "a"]\n\tpath = a\n',
  );
  expect(pushed.body).toContain("unpack ok");
  expect(await refsOf(repo)).toHaveLength(1);
});
