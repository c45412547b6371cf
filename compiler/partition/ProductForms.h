// How the ranks of a group share a product of rows of which each has a shard:
// attention's output product and the feed-forward network's second one.
#pragma once

#include <cstdint>

namespace orrery::partition {

enum class ProductForm : uint8_t {
  Column,  ///< the rows are gathered; each rank has rows of the matrix
  Scatter, ///< each has columns; its partials are added by the rows' owners
  Reduce,  ///< each has columns; all ranks add all partials
};

/// What is asked for.
enum class Products : uint8_t {
  Chosen, ///< the form that is estimated to take least, product by product
  Column,
  Row, ///< Scatter or Reduce, whichever is estimated to take less
  Scatter,
  Reduce,
};

inline const char *productFormName(ProductForm form) {
  return form == ProductForm::Column    ? "column"
         : form == ProductForm::Scatter ? "scatter"
                                        : "reduce";
}

/// Such a product of a compiled stage.
struct SharedProduct {
  bool attention; ///< else the feed-forward network's
  ProductForm form;
};

} // namespace orrery::partition
