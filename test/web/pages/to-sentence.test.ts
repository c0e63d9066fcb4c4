import { describe, expect, it } from "vitest";

import { toFault, toSentence } from "../../../src/web/pages/to-sentence.ts";

describe("a message of the API on a page", () => {
  it.each([
    ["[user_name]: must not be empty", "User name must not be empty."],
    ["[attachment-edit-2a32cb66]: must be short", "This must be short."],
    ["[oid]: must be the id of an object", "The form names no file of the changes."],
    [
      "pull request already exists for these targets [id: 17, issue_id: 17, base: main]",
      "A pull request of these branches is open.",
    ],
    ["user cannot commit to repo [user: writer]", "You may not commit to this branch."],
    ["Assignee does not exist: [name: ann]", "Assignee does not exist: ann."],
    ["branch already exists [name: main]", "Branch already exists: main."],
    ["PasswordIsRequired: at least 8 characters", "A password has at least 8 characters."],
    ["approve your own pull is not allowed", "You can't approve your own pull request."],
    ["the pull request is closed", "The pull request is closed."],
    // Names stay as they are.
    ["ann/lab is archived", "ann/lab is archived."],
    ["ann can't read this issue", "ann can't read this issue."],
    ["Nothing is selected.", "Nothing is selected."],
    ["constructor", "constructor."],
  ])("%s", (message, sentence) => expect(toSentence(message)).toBe(sentence));

  it.each([
    ["[user_name]: must not be empty", "Must not be empty."],
    ["[oid]: must be the id of an object", "The form names no file of the changes."],
    ["the pull request is closed", "The pull request is closed."],
  ])("at its field: %s", (message, fault) => expect(toFault(message)).toBe(fault));
});
