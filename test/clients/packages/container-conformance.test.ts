import { resolve } from "node:path";

import { expect, it } from "vitest";

import { makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { hasProgram, tryProgram } from "../support/run-program.ts";

/** The suite of the specification, where `.ci/install-clients` puts it. */
const CONFORMANCE = resolve("node_modules/.cache/bin/conformance");
const hasSuite = hasProgram(CONFORMANCE);
if (!hasSuite) console.log("no conformance suite of the OCI distribution specification");

/** Refused: a manifest of an image names only what the image has. */
const DISABLED = { OCI_DATA_SPARSE: "false" };
/** What the specification leaves to a registry, and this one does. */
const OPTIONAL = {
  OCI_API_BLOBS_DIGEST_HEADER: "true",
  OCI_API_BLOBS_UPLOAD_CANCEL: "true",
  OCI_API_MANIFESTS_DIGEST_HEADER: "true",
};

it.skipIf(!hasSuite)(
  "the conformance suite of the OCI distribution specification passes",
  async () => {
    const owner = await makeUser();
    const directory = makeDirectory();
    const { code, output } = await tryProgram(CONFORMANCE, [], {
      directory,
      env: {
        ...OPTIONAL,
        ...DISABLED,
        OCI_VERSION: "1.1",
        OCI_REGISTRY: new URL(serviceUrl).host,
        OCI_TLS: "disabled",
        OCI_REPO1: `${owner.name}/one`,
        OCI_REPO2: `${owner.name}/two/nested`,
        OCI_USERNAME: owner.name,
        OCI_PASSWORD: await makeToken(owner, "write:package"),
        OCI_RESULTS_DIR: directory,
      },
    });
    const failures = output.split("\n").filter((line) => /: (?:FAIL|Error)$/.test(line));
    expect({ code, failures }).toEqual({ code: 0, failures: [] });
    // Not empty: it has some hundred tests of each hash function.
    expect(Number(/^ *Pass\.+: +(\d+)$/m.exec(output)?.[1])).toBeGreaterThan(800);
  },
  300_000,
);
