/* global SwaggerUIBundle */

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#viewer",
  deepLinking: true,
  // With several hundred operations, none is expanded; the reader searches.
  docExpansion: "none",
  filter: true,
  // By default, the viewer sends each document to a public validator.
  validatorUrl: null,
});
