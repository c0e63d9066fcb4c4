import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { type WorkflowRun, workflowArtifacts } from "../../../src/db/schema/index.ts";
import { makeRun, visitRunnerDoor } from "../../support/actions.ts";
import { makeArtifact } from "../../support/artifacts.ts";
import { auditOf } from "../../support/audit.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { SEALING_KEYS } from "../../support/sealing.ts";
import { serviceWith } from "../../support/service.ts";

const call = serviceWith({ SEALING_KEYS });

interface Place {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly run: WorkflowRun;
  readonly path: string;
}

async function makePlace(isPrivate = false): Promise<Place> {
  const owner = await make.user();
  const repo = await make.repo(owner, { isPrivate });
  const run = await makeRun(repo, { state: "success" });
  return { owner, repo, run, path: `/repos/${owner.name}/${repo.name}/actions` };
}

/** Sends a request to an address that an answer has. */
const follow = (address: string, init?: RequestInit): Promise<Response> =>
  visitRunnerDoor(new Request(new URL(address, "http://forge.test"), init));

const namesOf = (answer: { body: { artifacts: readonly { name: string }[] } }) =>
  answer.body.artifacts.map(({ name }) => name);

describe("GET /repos/{owner}/{repo}/actions/artifacts", () => {
  it("lists artifacts, newest first, by name and by run, with pages and their total", async () => {
    const { repo, run, path } = await makePlace();
    const second = await makeRun(repo, { state: "success" });
    await makeArtifact(run, { name: "one" });
    await makeArtifact(run, { name: "two", state: "expired" });
    await makeArtifact(run, { name: "half", state: "pending" });
    const last = await makeArtifact(second, { name: "one" });

    const all = await call("GET", `${path}/artifacts`);
    expect(namesOf(all)).toEqual(["one", "two", "one"]);
    expect(all.body.total_count).toBe(3);
    expect(all.body.artifacts[0]).toMatchObject({
      id: last.id,
      size_in_bytes: 5,
      expired: false,
      digest: `sha256:${last.sha256}`,
      workflow_run: { id: second.id, repository_id: repo.id, head_sha: second.headOid },
    });
    expect(all.body.artifacts[1].expired).toBe(true);
    const page = await call("GET", `${path}/artifacts?limit=1&page=2`);
    expect(namesOf(page)).toEqual(["two"]);
    expect(page.headers.get("x-total-count")).toBe("3");
    expect(namesOf(await call("GET", `${path}/artifacts?name=one`))).toEqual(["one", "one"]);
    expect(namesOf(await call("GET", `${path}/runs/${run.id}/artifacts`))).toEqual(["two", "one"]);
    const named = `${path}/runs/${run.id}/artifacts?name=one`;
    expect((await call("GET", named)).body.total_count).toBe(1);
    expect((await call("GET", `${path}/runs/${run.id + 1000}/artifacts`)).status).toBe(404);
  });

  it("shows nothing of another repository, nor of a private one to strangers", async () => {
    const [place, other] = [await makePlace(true), await makePlace()];
    const { id } = await makeArtifact(place.run);
    const stranger = await make.user();
    for (const sub of ["artifacts", `artifacts/${id}`, `artifacts/${id}/zip`]) {
      expect((await call("GET", `${place.path}/${sub}`)).status).toBe(404);
      expect((await call("GET", `${place.path}/${sub}`, { as: stranger })).status).toBe(404);
    }
    expect((await call("GET", `${other.path}/artifacts/${id}`)).status).toBe(404);
    expect((await call("GET", `${other.path}/artifacts/${id}/zip`)).status).toBe(404);
    expect((await call("GET", `${other.path}/runs/${place.run.id}/artifacts`)).status).toBe(404);
    const asOther = { as: other.owner };
    expect((await call("DELETE", `${other.path}/artifacts/${id}`, asOther)).status).toBe(404);
    expect((await call("GET", `${place.path}/artifacts/${id}`, { as: place.owner })).status).toBe(
      200,
    );
  });
});

describe("GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip", () => {
  let place: Place;
  let location: string;
  let id: number;
  beforeAll(async () => {
    place = await makePlace(true);
    ({ id } = await makeArtifact(place.run));
    const answer = await call("GET", `${place.path}/artifacts/${id}/zip`, { as: place.owner });
    location = answer.headers.get("location") ?? "";
  });

  it("leads to an address that needs no credential, and has ranges", async () => {
    const answer = await call("GET", `${place.path}/artifacts/${id}/zip`, { as: place.owner });
    expect(answer.status).toBe(302);
    expect(new URL(location).pathname).toBe(`/api/v1${place.path}/artifacts/${id}/zip/raw`);
    const whole = await follow(location);
    expect(whole.status).toBe(200);
    expect(whole.headers.get("content-type")).toBe("application/zip");
    expect(new TextDecoder().decode(await whole.arrayBuffer())).toBe("Hello");
    const part = await follow(location, { headers: { Range: "bytes=-2" } });
    expect(part.status).toBe(206);
    expect(new TextDecoder().decode(await part.arrayBuffer())).toBe("lo");
    const head = await follow(location, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe("5");
    const tag = whole.headers.get("etag") ?? "";
    const known = await follow(location, { headers: { "If-None-Match": tag } });
    expect(known.status).toBe(304);
    await known.arrayBuffer();
  });

  it("refuses the address for another artifact, repository or time", async () => {
    const second = await makeArtifact(place.run, { name: "second" });
    const changed = (change: (url: URL) => void): string => {
      const url = new URL(location);
      change(url);
      return url.href;
    };
    for (const address of [
      changed((url) => (url.pathname = url.pathname.replace(`/${id}/`, `/${second.id}/`))),
      changed((url) => url.searchParams.set("artifactID", String(second.id))).replace(
        `/${id}/`,
        `/${second.id}/`,
      ),
      changed((url) => url.searchParams.set("expires", "99999999999999")),
      changed((url) => url.searchParams.delete("sig")),
    ]) {
      expect((await follow(address)).status).toBe(403);
    }
    const { path } = await makePlace();
    expect((await follow(location.replace(place.path, path))).status).toBe(404);
  });

  it("does not lead to one that has expired", async () => {
    const expired = await makeArtifact(place.run, { name: "old", state: "expired" });
    const path = `${place.path}/artifacts/${expired.id}/zip`;
    expect((await call("GET", path, { as: place.owner })).status).toBe(404);
  });
});

describe("DELETE /repos/{owner}/{repo}/actions/artifacts/{artifact_id}", () => {
  it("deletes the artifact once, and records who did", async () => {
    const { owner, run, path } = await makePlace();
    const { id } = await makeArtifact(run);
    const answer = await call("DELETE", `${path}/artifacts/${id}`, { as: owner });
    expect(answer.status).toBe(204);
    expect((await call("DELETE", `${path}/artifacts/${id}`, { as: owner })).status).toBe(404);
    expect(await auditOf({ id: owner.id })).toMatchObject([
      {
        kind: "workflow_artifact.deleted",
        target: `result #${run.number}`,
        details: { runId: run.id, artifactId: id },
      },
    ]);
  });

  it("refuses who may not write to Actions, and deletes nothing", async () => {
    const { repo, run, path } = await makePlace();
    const { id } = await makeArtifact(run);
    const reader = await make.user();
    await make.collaborator(repo, reader, 1);
    expect((await call("DELETE", `${path}/artifacts/${id}`)).status).toBe(401);
    expect((await call("DELETE", `${path}/artifacts/${id}`, { as: reader })).status).toBe(403);
    expect(
      await db.select().from(workflowArtifacts).where(eq(workflowArtifacts.id, id)),
    ).toHaveLength(1);
  });
});
