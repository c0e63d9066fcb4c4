import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { describe, expect, it } from "vitest";

import { whenChanged } from "../../../scripts/build/when-changed.ts";
import { projectRoot } from "../../../scripts/project.ts";
import { makeDirectory } from "../support/temporary.ts";

const inside = (path: string) => relative(projectRoot, path);

/** A directory with one source, and a build that copies it. */
function makeProject() {
  const directory = makeDirectory({ "source/a.txt": "one" });
  const source = join(directory, "source/a.txt");
  const output = join(directory, "made");
  const build = (copy = (to: string) => writeFileSync(join(to, "a.txt"), readFileSync(source))) =>
    whenChanged(inside(output), [inside(join(directory, "source"))], async (to) => copy(to));
  return { source, output, build };
}

describe("whenChanged", () => {
  it("builds once for the same bytes, regardless of file times", async () => {
    const { source, build } = makeProject();

    expect(await build()).toBe(true);
    utimesSync(source, new Date(), new Date(Date.now() + 60_000));
    expect(await build()).toBe(false);
  });

  // An unpacked release contains files that are older than the last build.
  it("builds again for other bytes with an older time", async () => {
    const { source, output, build } = makeProject();
    await build();

    writeFileSync(source, "two");
    utimesSync(source, new Date(0), new Date(0));

    expect(await build()).toBe(true);
    expect(readFileSync(join(output, "a.txt"), "utf8")).toBe("two");
  });

  it("keeps the last output if a build fails", async () => {
    const { source, output, build } = makeProject();
    await build();
    writeFileSync(source, "two");

    const failing = build(() => {
      throw new Error("no");
    });

    await expect(failing).rejects.toThrow("no");
    expect(readFileSync(join(output, "a.txt"), "utf8")).toBe("one");
    expect(existsSync(`${output}.${process.pid}`)).toBe(false);
    expect(await build()).toBe(true);
  });

  it("builds again if the output was removed", async () => {
    const { output, build } = makeProject();
    await build();

    rmSync(output, { recursive: true });

    expect(await build()).toBe(true);
  });
});
