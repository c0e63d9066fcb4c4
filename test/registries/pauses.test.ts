import { describe, expect, it } from "vitest";

import { sourceOfBytes } from "../../src/lib/archive-source.ts";
import { pause } from "../../src/lib/time-slice.ts";
import { requireCrate } from "../../src/registries/cargo/inspect-crate.ts";
import { parsePackage } from "../../src/registries/composer/parse-package.ts";
import { parseManifest as parseImage } from "../../src/registries/container/parse-manifest.ts";
import { parseDeb } from "../../src/registries/debian/parse-deb.ts";
import { inspectModule } from "../../src/registries/go/inspect-module.ts";
import { parseChart } from "../../src/registries/helm/parse-chart.ts";
import { parsePom } from "../../src/registries/maven/parse-pom.ts";
import { inspectTarball } from "../../src/registries/npm/inspect-tarball.ts";
import { parseDocument } from "../../src/registries/npm/parse-publication.ts";
import { readDocument } from "../../src/registries/npm/read-document.ts";
import { parseNupkg } from "../../src/registries/nuget/parse-nupkg.ts";
import { inspectDistribution } from "../../src/registries/pypi/inspect-distribution.ts";
import { parseGem } from "../../src/registries/rubygems/parse-gem.ts";
import { type MadeEntry, makeTarGz, makeZip } from "../support/archives.ts";
import { makeDebOf } from "../support/debs.ts";
import { gemspecOf, makeGem } from "../support/gems.ts";
import { makeNupkg } from "../support/nupkgs.ts";
import { expectPauses } from "../support/slices.ts";
import { makeCrate } from "./cargo/crates.ts";
import { makeSdist, makeWheel } from "./pypi/distributions.ts";

// All requests of an isolate share one thread. Each parser of an upload gives way after a bounded
// number of counted steps, in the shape of input that takes it the most: very many small parts.
// Their number is a part of what is allowed.

const FILES = 1500;

const filesIn = (folder: string): MadeEntry[] =>
  Array.from({ length: FILES }, (_, at) => ({ path: `${folder}f${at}`, isStored: true }));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

const objectOf = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));

describe("an archive of many files lets other requests run while it is read", () => {
  it("of NuGet", async () => {
    const bytes = makeNupkg("Many", "1.0.0", "", filesIn("content/"));
    const { files } = await expectPauses(5, () => parseNupkg(sourceOfBytes(bytes)));
    expect(files).toHaveLength(FILES + 1);
  });

  it("of Go", async () => {
    const bytes = makeZip(filesIn("example.com/many@v1.0.0/"));
    await expectPauses(5, () => inspectModule(sourceOfBytes(bytes)));
  });

  it("of Python, as a wheel and as a source distribution", async () => {
    const wheel = makeWheel("many", "1.0", { entries: filesIn("many/") });
    const read = (bytes: Uint8Array, filetype: "bdist_wheel" | "sdist", format: "zip" | "tar.gz") =>
      inspectDistribution(
        sourceOfBytes(bytes),
        { filetype, format } as Parameters<typeof inspectDistribution>[1],
        "many",
        "1",
      );
    await expectPauses(5, () => read(wheel.bytes, "bdist_wheel", "zip"));
    const sdist = await makeSdist("many", "1.0", { entries: filesIn("many-1.0/") });
    await expectPauses(4, () => read(sdist.bytes, "sdist", "tar.gz"));
  });

  it("of cargo", async () => {
    const { bytes } = await makeCrate("many", "1.0.0", { entries: filesIn("many-1.0.0/") });
    await expectPauses(4, () => requireCrate(sourceOfBytes(bytes), "many", "1.0.0"));
  });

  it("of npm and Helm, which are read while they arrive", async () => {
    const manifest = { path: "package/package.json", content: '{"name":"many"}' };
    const bytes = await makeTarGz([manifest, ...filesIn("package/")]);
    const found = await expectPauses(4, () => inspectTarball(piecesOf(bytes)));
    expect(found.fileCount).toBe(FILES + 1);
  });

  it("of Debian", async () => {
    const control = "Package: many\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: b\n";
    const entries = filesIn("").slice(0, 900);
    const bytes = await makeDebOf([...entries, { path: "control", content: control }]);
    await expectPauses(2, () => parseDeb(sourceOfBytes(bytes)));
  });
});

describe("a text of many parts lets other requests run while it is parsed", () => {
  it("the specification of a gem", async () => {
    const files = `files:\n${"- lib/some/file.rb\n".repeat(4000)}`;
    const gem = await makeGem("many", "1.0", { more: files });
    const { name } = await expectPauses(3, () => parseGem(sourceOfBytes(gem)));
    expect(name).toBe("many");
  });

  it("is refused where it would be composed for too long", async () => {
    const flow = `files: [${"a,".repeat(15_000)}a]`;
    const specification = gemspecOf("many", "1.0", "ruby", flow);
    const gem = await makeGem("many", "1.0", { specification });
    await expect(parseGem(sourceOfBytes(gem))).rejects.toMatchObject({ kind: "malformed" });
  });

  it("the Chart.yaml of Helm", async () => {
    const lines = Array.from({ length: 3000 }, (_, at) => `  k${at}: v`);
    const text = `apiVersion: v2\nname: many\nversion: 1.0.0\nannotations:\n${lines.join("\n")}\n`;
    const { annotations } = await expectPauses(4, () => parseChart(bytesOf(text)));
    expect(Object.keys(annotations ?? {})).toHaveLength(3000);
  });

  it("the POM of Maven", async () => {
    const text = `<project><artifactId>a</artifactId><name>${"<b/>".repeat(19_000)}${" ".repeat(400_000)}</name></project>`;
    await expectPauses(5, () => parsePom(bytesOf(text)));
  });

  it("the documents of npm, Composer and OCI", async () => {
    const document = JSON.stringify({ name: "many", versions: objectOf(20_000, { name: "many" }) });
    await expectPauses(1, () => readDocument(piecesOf(bytesOf(document)), async () => {}));
    const composer = JSON.stringify({ name: "a/many", extra: objectOf(30_000, {}) });
    await expectPauses(1, () => parsePackage(bytesOf(composer)));
    const layer = {
      mediaType: "application/vnd.oci.image.layer.v1.tar",
      digest: `sha256:${"0".repeat(64)}`,
      size: 1,
    };
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const imageOf = (count: number) =>
      bytesOf(
        JSON.stringify({
          schemaVersion: 2,
          mediaType,
          config: layer,
          layers: Array.from({ length: count }, () => layer),
        }),
      );
    await expectPauses(1, () => parseImage(imageOf(10_000), mediaType));
    // Each of a million faults would be reported.
    const empty = bytesOf(
      JSON.stringify({
        name: "many",
        versions: objectOf(20_001, {}),
        users: objectOf(100_000, {}),
      }),
    );
    const faulty = await readDocument(piecesOf(empty), async () => {});
    expect(() => parseDocument(faulty, "many")).toThrow("package is invalid: versions");
    await expect(parseImage(imageOf(10_001), mediaType)).rejects.toMatchObject({
      message: expect.stringContaining("layers"),
    });
  });
});

it("counts short pieces of work of different kinds together", async () => {
  await expectPauses(1, async () => {
    for (let at = 0; at < 20; at++) await pause(100_000);
  });
});
