import { describe, expect, it } from "vitest";

import { mayHaveToken } from "../../../src/forges/gitlab/download-headers.ts";
import { parseProjectUrl } from "../../../src/forges/gitlab/project-url.ts";
import { openSample, origin } from "../../support/forges/gitlab-reader.ts";
import { SAMPLE_PATH } from "../../support/forges/gitlab-sample.ts";

describe("the address of a project", () => {
  it.each([
    ["https://gitlab.com/group/project", "group/project"],
    ["https://gitlab.com/group/project.git", "group/project"],
    ["https://gitlab.com/group/sub/sub2/pro.ject.git/", "group/sub/sub2/pro.ject"],
    ["https://gitlab.com//group/%C3%A7elik", "group/çelik"],
  ])("is read from %s", (url, path) => {
    expect(parseProjectUrl(url)).toEqual({ origin: "https://gitlab.com", path });
  });

  it.each([
    "https://gitlab.com/",
    "https://gitlab.com/project",
    "https://gitlab.com/group/project/-/issues",
    "https://gitlab.com/group/%2e%2e%2fx",
    "https://gitlab.com/group/a%00b",
    "https://gitlab.com/group/%zz",
    `https://gitlab.com/${"a/".repeat(30)}b`,
  ])("is not found at %s", (url) => {
    expect(() => parseProjectUrl(url)).toThrow(expect.objectContaining({ kind: "not_found" }));
  });

  it("is refused if it is none", () => {
    expect(() => parseProjectUrl("gitlab")).toThrow(expect.objectContaining({ kind: "blocked" }));
  });
});

describe("the token for downloads", () => {
  const HOST = "https://gitlab.com";
  const API = `${HOST}/api/v4/projects/group%2Fproject`;
  const PAGE = `${HOST}/group/project`;
  const isSent = (url: string) => mayHaveToken(url, HOST, "group/project");

  it.each([
    `${API}/packages/generic/x/1.0/x.bin`,
    `${API}/repository/archive.zip?sha=v1`,
    `${HOST}/api/v4/projects/Group%2fProject/packages/generic/x/1.0/x.bin`,
    `${PAGE}/-/releases/v1.0/downloads/x.bin`,
    `${PAGE}/-/jobs/7/artifacts/raw/x.bin`,
    `${PAGE}/uploads/0123/x.bin`,
  ])("is sent to %s", (url) => {
    expect(isSent(url)).toBe(true);
  });

  // SECURITY: a release of somebody else's project must not fetch what only the importer may read.
  it.each([
    "https://elsewhere.example/group/project/-/releases/v1.0/downloads/x.bin",
    "http://gitlab.com/group/project/-/releases/v1.0/downloads/x.bin",
    "https://gitlab.com:8443/group/project/uploads/0123/x.bin",
    "https://me:x@gitlab.com/group/project/uploads/0123/x.bin",
    `${HOST}/api/v4/user`,
    `${HOST}/api/v4/projects/group%2Fother/packages/generic/x/1.0/x.bin`,
    `${HOST}/api/v4/projects/43/packages/generic/x/1.0/x.bin`,
    `${API}/variables`,
    `${API}/packages/..%2f..%2f..%2fuser`,
    `${API}/packages/../variables`,
    `${API}/packages/%2e%2e/variables`,
    `${API}/packages/%252e%252e/variables`,
    `${API}/packages/x%5c..`,
    `${HOST}/group/project-two/uploads/0123/x.bin`,
    `${PAGE}/-/settings/ci_cd`,
    `${PAGE}/-/releases/%2e%2e%2fsettings`,
    "nonsense",
  ])("is not sent to %s", (url) => {
    expect(isSent(url)).toBe(false);
  });

  it("is in the header that its kind has", () => {
    const url = `${origin}/${SAMPLE_PATH}/uploads/0123/x.bin`;
    const headersFor = (options: Parameters<typeof openSample>[0]) =>
      openSample(options).reader.headersFor(url);
    expect(headersFor({ password: "glpat-x" })).toEqual({ "PRIVATE-TOKEN": "glpat-x" });
    expect(headersFor({ username: "ada", password: "t" })).toEqual({ "PRIVATE-TOKEN": "t" });
    expect(headersFor({ username: "oauth2", password: "t" })).toEqual({
      Authorization: "Bearer t",
    });
    expect(headersFor({ password: "" })).toEqual({});
  });
});
