"""scikit-learn with array_api_dispatch=True."""

import numpy as np
import sklearn
from sklearn import metrics, preprocessing
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import pairwise
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

sklearn.set_config(array_api_dispatch=True)

RNG = np.random.default_rng(0)
LABELS = np.repeat(np.arange(3), 20)
X = RNG.normal(size=(60, 4)) + 1.5 * LABELS[:, None]
TARGET = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.1 * RNG.normal(size=60)
PREDICTED = np.where(RNG.uniform(size=60) < 0.8, LABELS, (LABELS + 1) % 3)


def data_scaled(xp, make):
    x = make(X)
    scalers = (
        preprocessing.StandardScaler(),
        preprocessing.MinMaxScaler(),
        preprocessing.MaxAbsScaler(),
        preprocessing.Normalizer(),
    )
    return [scaler.fit_transform(x) for scaler in scalers]


def polynomials_of_features(xp, make):
    return preprocessing.PolynomialFeatures(2).fit_transform(make(X))


def principal_components(xp, make):
    found = PCA(n_components=2, svd_solver="full").fit(make(X))
    by_covariance = PCA(n_components=2, svd_solver="covariance_eigh").fit(make(X))
    return (
        xp.abs(found.components_),
        found.explained_variance_,
        xp.abs(found.transform(make(X))),
        by_covariance.singular_values_,
    )


def ridge_regression(xp, make):
    fitted = Ridge(alpha=0.5, solver="svd").fit(make(X), make(TARGET))
    return fitted.coef_, fitted.intercept_, fitted.predict(make(X))


def ridge_with_penalty_chosen(xp, make):
    fitted = RidgeCV(alphas=(0.01, 0.1, 1.0)).fit(make(X), make(TARGET))
    return fitted.coef_, float(fitted.alpha_)


def discriminants(xp, make):
    fitted = LinearDiscriminantAnalysis(solver="svd").fit(make(X), make(LABELS))
    return fitted.predict_proba(make(X)), fitted.predict(make(X))


def logistic_regression(xp, make):
    fitted = LogisticRegression(solver="lbfgs", tol=1e-10).fit(make(X), make(LABELS))
    return fitted.coef_, fitted.predict(make(X))


logistic_regression.exact = 1e-4


def mixtures(xp, make):
    # `reg_covar` would be added to the diagonal through a view, which umber does not have.
    fitted = GaussianMixture(
        n_components=2, init_params="random", random_state=0, max_iter=20, reg_covar=0.0
    ).fit(make(X))
    return fitted.means_, fitted.weights_, fitted.predict_proba(make(X))


mixtures.exact = 1e-6


def naive_bayes(xp, make):
    fitted = GaussianNB().fit(make(X), make(LABELS))
    return fitted.predict(make(X)), fitted.predict_log_proba(make(X))


def kernels_and_distances(xp, make):
    x, y = make(X[:10]), make(X[30:])
    return (
        pairwise.euclidean_distances(x, y),
        pairwise.rbf_kernel(x, y),
        pairwise.cosine_similarity(x, y),
        pairwise.paired_euclidean_distances(x, x + 1.0),
    )


def regressions_scored(xp, make):
    true, found = make(TARGET), make(TARGET + 0.3)
    return [
        float(score(true, found))
        for score in (
            metrics.mean_squared_error,
            metrics.mean_absolute_error,
            metrics.r2_score,
            metrics.explained_variance_score,
        )
    ]


def classifications_scored(xp, make):
    true, found = make(LABELS), make(PREDICTED)
    return (
        float(metrics.accuracy_score(true, found)),
        float(metrics.f1_score(true, found, average="macro")),
        metrics.confusion_matrix(true, found),
    )


# Scores of integers are of the default dtype, float32.
classifications_scored.exact = 1e-6


def data_split(xp, make):
    return train_test_split(make(X), make(LABELS), test_size=0.25, random_state=0)


def parameters_cross_validated(xp, make):
    scores = cross_val_score(Ridge(solver="svd"), make(X), make(TARGET), cv=3)
    return [float(score) for score in scores]


def steps_in_a_pipeline(xp, make):
    steps = make_pipeline(preprocessing.StandardScaler(), PCA(2), Ridge(solver="svd"))
    return steps.fit(make(X), make(TARGET)).predict(make(X))


def labels_encoded(xp, make):
    encoder = preprocessing.LabelEncoder().fit(make(LABELS * 10))
    codes = encoder.transform(make(LABELS[::-1].copy() * 10))
    return encoder.classes_, codes, encoder.inverse_transform(codes)


def kernels_centred(xp, make):
    kernel = make(X @ X.T)
    return preprocessing.KernelCenterer().fit_transform(kernel)
