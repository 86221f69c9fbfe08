// Draws the API reference from the OpenAPI document.
"use strict";
(() => {
  const place = document.getElementById("reference");
  SwaggerUIBundle({ domNode: place, url: place.dataset.schema, deepLinking: true, docExpansion: "none", validatorUrl: null });
})();
