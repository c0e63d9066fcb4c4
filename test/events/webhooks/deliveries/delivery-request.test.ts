import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";

import {
  type Delivery,
  toDeliveryContent,
  toDeliveryRequest,
} from "../../../../src/events/webhooks/deliveries/delivery-request.ts";
import { formatContent } from "../../../../src/events/webhooks/deliveries/format-content.ts";
import type { DeliveryTarget } from "../../../../src/events/webhooks/deliveries/delivery-target.ts";
import { toRepositoryPayload } from "../../../../src/events/webhooks/payloads/repository-payload.ts";
import { makeOccasion } from "../../../support/payload-contexts.ts";

const HOOK: DeliveryTarget = {
  type: "gitea",
  url: "https://receiver.example/hook?key=1",
  contentType: "json",
  secret: "s3cret é",
  authorizationHeader: "",
  level: "repository",
};
const CONTENT = '{\n  "text": "ä & = +"\n}';
const DELIVERY: Delivery = {
  id: "0d0ff4dc-6bd2-4ea1-a4bb-0ee2a4a0f3a5",
  event: "pull_request_sync",
  eventId: 17,
  content: toDeliveryContent(CONTENT),
};
const hmac = (hash: string, text: string | Uint8Array): string =>
  createHmac(hash, HOOK.secret).update(text).digest("hex");

describe("the request of a delivery", () => {
  it("signs exactly the bytes it sends", async () => {
    const { method, url, headers, body } = await toDeliveryRequest(HOOK, DELIVERY);
    expect([method, url]).toEqual(["POST", HOOK.url]);
    expect(new TextDecoder().decode(body)).toBe(CONTENT);
    const sha256 = hmac("sha256", body);
    expect(headers).toEqual({
      "Content-Type": "application/json",
      "X-Gitea-Delivery": DELIVERY.id,
      "X-Gitea-Event": "pull_request",
      "X-Gitea-Event-Type": "pull_request_sync",
      "X-Gitea-Signature": sha256,
      "X-Gitea-Hook-Installation-Target-Type": "repository",
      "X-Gogs-Delivery": DELIVERY.id,
      "X-Gogs-Event": "pull_request",
      "X-Gogs-Event-Type": "pull_request_sync",
      "X-Gogs-Signature": sha256,
      "X-Hub-Signature": `sha1=${hmac("sha1", body)}`,
      "X-Hub-Signature-256": `sha256=${sha256}`,
      "X-GitHub-Delivery": DELIVERY.id,
      "X-GitHub-Event": "pull_request",
      "X-GitHub-Event-Type": "pull_request_sync",
      "X-GitHub-Hook-Installation-Target-Type": "repository",
      "X-Edgeforge-Event-Id": "17",
    });
  });

  // As in Gitea: comments of reviews and of pull requests share no family.
  it.each([
    ["pull_request_comment", "issue_comment"],
    ["pull_request_review_approved", "pull_request_approved"],
    ["pull_request_review_rejected", "pull_request_rejected"],
    ["pull_request_review_comment", "pull_request_comment"],
    ["pull_request_review_request", "pull_request"],
  ] as const)("names the family of %s as %s", async (event, family) => {
    const { headers } = await toDeliveryRequest(HOOK, { ...DELIVERY, event });
    for (const prefix of ["X-Gitea", "X-Gogs", "X-GitHub"]) {
      expect(headers[`${prefix}-Event`]).toBe(family);
      expect(headers[`${prefix}-Event-Type`]).toBe(event);
    }
  });

  it("signs the payload of a form, not the form", async () => {
    const { headers, body } = await toDeliveryRequest({ ...HOOK, contentType: "form" }, DELIVERY);
    expect(headers["Content-Type"]).toBe("application/x-www-form-urlencoded");
    const fields = new URLSearchParams(new TextDecoder().decode(body));
    expect([...fields]).toEqual([["payload", CONTENT]]);
    expect(headers["X-Gitea-Signature"]).toBe(hmac("sha256", fields.get("payload") ?? ""));
  });

  it("sends empty signatures if there is no secret", async () => {
    const { headers } = await toDeliveryRequest({ ...HOOK, secret: "" }, DELIVERY);
    expect(headers).toMatchObject({
      "X-Gitea-Signature": "",
      "X-Gogs-Signature": "",
      "X-Hub-Signature": "sha1=",
      "X-Hub-Signature-256": "sha256=",
    });
  });

  it("carries the hook's authorization header", async () => {
    const hook = { ...HOOK, authorizationHeader: "Bearer abc" };
    expect((await toDeliveryRequest(hook, DELIVERY)).headers["Authorization"]).toBe("Bearer abc");
    expect((await toDeliveryRequest(HOOK, DELIVERY)).headers).not.toHaveProperty("Authorization");
  });

  it("puts each message to Matrix under its own id, as JSON", async () => {
    const hook: DeliveryTarget = { ...HOOK, type: "matrix", contentType: "form" };
    const { method, url, headers, body } = await toDeliveryRequest(hook, DELIVERY);
    expect([method, url]).toEqual(["PUT", `https://receiver.example/hook/${DELIVERY.id}?key=1`]);
    expect(headers["Content-Type"]).toBe("application/json");
    expect(headers["X-Gitea-Signature"]).toBe(hmac("sha256", body));
  });

  it("is the same each time", async () => {
    const [first, second] = [
      await toDeliveryRequest(HOOK, DELIVERY),
      await toDeliveryRequest(HOOK, DELIVERY),
    ];
    expect(first).toEqual(second);
  });

  it("sends the payload to gitea and gogs, indented by two spaces", async () => {
    const body = toRepositoryPayload(await makeOccasion(), "created");
    for (const type of ["gitea", "gogs"] as const) {
      const content = formatContent({ type }, { event: "repository", body });
      expect(content).toMatch(/^\{\n {2}"action": "created",\n/);
      expect(JSON.parse(content ?? "")).toEqual(body);
    }
  });
});
